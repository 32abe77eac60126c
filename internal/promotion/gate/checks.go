package gate

import (
	"slices"
	"strings"

	"promoter/internal/config/setting"
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
			if gate.Reason == promotion.NotReported {
				gate.NotStarted(*open, pattern, "gates.checks", in.Now())
			}
		}
		input.Bypass(in, &gate, verb.BypassChecks, moves)
		gates = append(gates, gate)
	}
	return gates
}

// RequiredChecks returns how far the checks are that the open pull request of the target needs, by the config and by the
// forge: Pending while one of them, whose name is returned, has not finished and all may still pass; Failed if one of them
// did not pass; Passed if all did. Empty: none is required, or that is unknown.
func RequiredChecks(in input.Target) (state promotion.ConditionState, running string) {
	open := in.OpenPullRequest()
	if open == nil || in.Checkout {
		return "", ""
	}
	passed := 0
	for _, pattern := range requiredPatterns(in, *open) {
		state, name := promotion.CheckProgress(pattern, open.Checks)
		switch state {
		case promotion.Passed:
			passed++
		case promotion.Pending:
			running = name
		default:
			return promotion.Failed, ""
		}
	}
	rules, _ := in.Rules()
	for _, gate := range requiredChecks(rules, *open, in.Now()) {
		switch gate.State {
		case promotion.Passed:
			passed++
		case promotion.Pending:
			running = strings.TrimPrefix(gate.Name, protectionCheck)
		default:
			return promotion.Failed, ""
		}
	}
	switch {
	case running != "":
		return promotion.Pending, running
	case passed > 0:
		return promotion.Passed, ""
	default:
		return "", ""
	}
}

// requiredPatterns returns the patterns of the checks that the config requires on a pull request, for all applications in it.
func requiredPatterns(in input.Target, open promotion.Open) []string {
	patterns := slices.Clone(in.Settings.Gates.Checks)
	if in.Settings.PullRequest.Group == setting.GroupEnvironment {
		for application := range open.Snapshots {
			patterns = append(patterns, in.SettingsOf(application).Gates.Checks...)
		}
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}
