package gate

import (
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

func hasHold(gates *setting.Gates) bool { return gates.Hold != nil }

// holdGate shows the files that users keep from being written. Other than the gates that
// are about a pull request, it also keeps one from being opened.
func holdGate(in input.Target, moves []promotion.Move, _ *promotion.Open) []promotion.Condition {
	gate := promotion.Condition{Name: "hold " + in.Settings.Gates.Hold.Key, State: promotion.Passed}
	if why, held := input.HeldByFiles(in, moves); held {
		gate.State, gate.Reason = promotion.Blocked, why
	}
	return []promotion.Condition{gate}
}
