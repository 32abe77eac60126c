package rest

import "promoter/internal/scm"

// Worst keeps the worst result per name, in order of first occurrence.
func Worst(checks []scm.Check) []scm.Check {
	targets := map[string]int{}
	var kept []scm.Check
	for _, check := range checks {
		target, ok := targets[check.Name]
		switch {
		case !ok:
			targets[check.Name] = len(kept)
			kept = append(kept, check)
		case badness(check.State) > badness(kept[target].State):
			kept[target] = check
		}
	}
	return kept
}

func badness(state scm.CheckState) int {
	switch state {
	case scm.CheckPassed:
		return 0
	case scm.CheckPending:
		return 1
	default:
		return 2
	}
}
