package suggest

import (
	"cmp"
	"slices"
)

// arrange sorts environments on the way to production and gives each the ones
// before it as parents: those of its own region where there are such. A
// playground is a parent only where there is nothing else.
func arrange(environments []Environment, region map[string]string) {
	slices.SortFunc(environments, func(a, b Environment) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.Name, b.Name))
	})
	var before, group []Environment
	for i := range environments {
		e := &environments[i]
		if i > 0 && environments[i-1].rank != e.rank {
			before, group = parentsAmong(group), nil
		}
		same := slices.DeleteFunc(slices.Clone(before), func(p Environment) bool { return region[p.Name] != region[e.Name] })
		if len(same) == 0 {
			same = before
		}
		for _, parent := range same {
			e.After = append(e.After, parent.Name)
		}
		group = append(group, *e)
	}
}

// parentsAmong leaves playgrounds out, unless there is nothing else.
func parentsAmong(group []Environment) []Environment {
	var way []Environment
	for _, e := range group {
		if !e.aside {
			way = append(way, e)
		}
	}
	if len(way) == 0 {
		return group
	}
	return way
}
