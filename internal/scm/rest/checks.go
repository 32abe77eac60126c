package rest

import "promoter/internal/scm"

// Worst leaves one result per name, the first place of each name kept.
func Worst(checks []scm.Check) []scm.Check {
	places := map[string]int{}
	var kept []scm.Check
	for _, check := range checks {
		place, ok := places[check.Name]
		switch {
		case !ok:
			places[check.Name] = len(kept)
			kept = append(kept, check)
		case badness(check.State) > badness(kept[place].State):
			kept[place] = check
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
