package rest

import "promoter/internal/scm"

// Worst keeps the worst result per name, in order of first occurrence, and the worst of each
// of its sources.
func Worst(checks []scm.Check) []scm.Check {
	targets, sources := map[string]int{}, map[string]map[string]scm.CheckState{}
	var kept []scm.Check
	for _, check := range checks {
		for app, state := range check.Sources {
			if sources[check.Name] == nil {
				sources[check.Name] = map[string]scm.CheckState{}
			}
			if before, known := sources[check.Name][app]; !known || badness(state) > badness(before) {
				sources[check.Name][app] = state
			}
		}
		target, ok := targets[check.Name]
		switch {
		case !ok:
			targets[check.Name] = len(kept)
			kept = append(kept, check)
		case badness(check.State) > badness(kept[target].State):
			kept[target] = check
		}
	}
	for i := range kept {
		kept[i].Sources = sources[kept[i].Name]
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
