package gate

import (
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

// holdGate shows the files that users keep from being written. Other than the gates that
// are about a pull request, it also keeps one from being opened.
func holdGate(in *input.Target, moves []promotion.Move, _ *promotion.Open) []promotion.Condition {
	hold := in.Settings.Gates.Hold
	if hold == nil {
		return nil
	}
	gate := promotion.Condition{Name: "hold " + hold.Key, State: promotion.Passed}
	if held := in.HeldFiles(moves); len(held) > 0 {
		gate.State, gate.Reason = promotion.Blocked, held[0].String()
	}
	return []promotion.Condition{gate}
}
