package gate

import (
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/verb"
)

// checkGates require that checks pass on the head of the pull request.
func checkGates(in input.Target, moves []promotion.Move, open *promotion.Open) []promotion.Condition {
	var gates []promotion.Condition
	for _, pattern := range in.Settings.Gates.Checks {
		gate := promotion.Condition{Name: "check " + pattern, State: promotion.Pending, Reason: promotion.NoPullRequest}
		if in.Checkout {
			gate.State, gate.Reason = promotion.Unknown, promotion.NotEvaluated
		} else if open != nil {
			promotion.EvaluateChecks(&gate, pattern, open.Checks)
		}
		input.Bypass(in, &gate, verb.BypassChecks, moves)
		gates = append(gates, gate)
	}
	return gates
}
