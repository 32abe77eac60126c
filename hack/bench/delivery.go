package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// deliveryLimit is how many times as long a delivery with its hint may take as the
// least that could be done: three fifths of its rate.
const deliveryLimit = 1 / 0.6

// deliveryFigures lists what docs/performance.md promises of deliveries, for the
// databases that are there.
func deliveryFigures(deliveries map[string]result) []figure {
	var all []figure
	for _, where := range slices.Sorted(maps.Keys(deliveries)) {
		r := deliveries[where]
		all = append(all, limited("a delivery, "+strings.ReplaceAll(where, "_", " "), perSecond(r["own/s"]), "bare "+perSecond(r["bare/s"]),
			r["x-bare-own"], deliveryLimit))
	}
	return all
}

func perSecond(rate float64) string { return fmt.Sprintf("%.0f/s", rate) }
