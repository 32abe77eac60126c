package promotion

import (
	"strings"

	"promoter/internal/verb"
)

// windows evaluates the named windows together: they allow and deny as one.
func windows(in *input, _ *Open) []Condition {
	names := in.settings.Gates.Windows
	if len(names) == 0 {
		return nil
	}
	state := in.obs.Config.WindowsOf(names).State(in.now)
	gate := Condition{Name: "windows " + strings.Join(names, ", "), State: Pending, Reason: state.Reason}
	if state.Open {
		gate.State = Passed
	}
	if !state.Until.IsZero() {
		until := state.Until.UTC()
		gate.Until = &until
	}
	in.bypass(&gate, verb.BypassWindows, in.moves)
	return []Condition{gate}
}
