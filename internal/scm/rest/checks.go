package rest

import "promoter/internal/scm"

// Worst keeps the worst result per name, in order of first occurrence, and the worst of each
// of its sources. A run without a result is better than one that counts the same.
func Worst(checks []scm.Check) []scm.Check {
	sources := map[string]map[string]scm.CheckState{}
	for _, check := range checks {
		for app, state := range check.Sources {
			if sources[check.Name] == nil {
				sources[check.Name] = map[string]scm.CheckState{}
			}
			if before, known := sources[check.Name][app]; !known || badness(state) > badness(before) {
				sources[check.Name][app] = state
			}
		}
	}
	kept := Best(checks, func(check scm.Check) string { return check.Name }, func(a, b scm.Check) bool {
		bad, before := badness(a.State), badness(b.State)
		return bad > before || bad == before && b.NoResult && !a.NoResult
	})
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

// Best keeps one of those with the same key, in order of first occurrence: the first one, or a
// later one that is better.
func Best[T any, K comparable](all []T, key func(T) K, better func(a, b T) bool) []T {
	targets := map[K]int{}
	var kept []T
	for _, one := range all {
		target, ok := targets[key(one)]
		switch {
		case !ok:
			targets[key(one)] = len(kept)
			kept = append(kept, one)
		case better(one, kept[target]):
			kept[target] = one
		}
	}
	return kept
}
