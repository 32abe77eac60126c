package main

import (
	"fmt"
	"maps"
	"slices"
)

// recoveryFigures lists how soon work continues after a crash, for the databases that
// are there: within a second on SQLite, within one lease on PostgreSQL.
func recoveryFigures(recoveries map[string]result) []figure {
	var all []figure
	for _, where := range slices.Sorted(maps.Keys(recoveries)) {
		r := recoveries[where]
		all = append(all, limited("work continues after a crash, "+where, fmt.Sprintf("%.0f ms (at most %.0f ms)", r["ms-recovery"], r["ms-worst"]),
			fmt.Sprintf("%.0f ms", r["ms-limit"]), r["x-limit"], 1))
	}
	return all
}
