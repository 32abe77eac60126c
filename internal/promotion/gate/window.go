package gate

import (
	"strings"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/verb"
)

func hasWindows(gates *setting.Gates) bool { return len(gates.Windows) > 0 }

// windows evaluates the named windows together: they allow and deny as one. They keep new versions
// out of some times, and do not keep what failed there: an automatic rollback passes them, unless
// the server file has another rule.
func windows(in input.Target, moves []promotion.Move, _ *promotion.Open) []promotion.Condition {
	names := in.Settings.Gates.Windows
	state := in.Config.WindowsOf(names).State(in.Now())
	gate := promotion.Condition{Name: "windows " + strings.Join(names, ", "), State: promotion.Pending, Reason: state.Reason}
	if state.Open {
		gate.State = promotion.Passed
	}
	if !state.Until.IsZero() {
		until := state.Until.UTC()
		gate.Until = &until
	}
	if in.Returns != nil && in.Returns.Automatic && gate.State != promotion.Passed {
		if in.Settings.Gates.RollbackInWindows {
			gate.Reason = promotion.Appended(gate.Reason, "the server lets no automatic rollback pass windows")
		} else {
			gate.State, gate.Until = promotion.Passed, nil
			gate.Reason = promotion.Appended("an automatic rollback does not wait for windows", gate.Reason)
		}
	}
	input.Bypass(in, &gate, verb.BypassWindows, moves)
	return []promotion.Condition{gate}
}
