package promotion

import "promoter/internal/verb"

// checkGates require that checks pass on the head of the pull request.
func checkGates(in *input, open *Open) []Condition {
	var gates []Condition
	for _, pattern := range in.settings.Gates.Checks {
		gate := Condition{Name: "check " + pattern, State: Pending, Reason: noPullRequest}
		if in.obs.Checkout {
			gate.State, gate.Reason = Unknown, notEvaluated
		} else if open != nil {
			evaluateChecks(&gate, pattern, open.Checks)
		}
		in.bypass(&gate, verb.BypassChecks, in.moves)
		gates = append(gates, gate)
	}
	return gates
}
