package gate

import (
	"strings"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/verb"
)

func hasWindows(gates *setting.Gates) bool { return len(gates.Windows) > 0 }

// windows evaluates the named windows together: they allow and deny as one.
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
	input.Bypass(in, &gate, verb.BypassWindows, moves)
	return []promotion.Condition{gate}
}
