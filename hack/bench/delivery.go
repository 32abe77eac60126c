package main

import (
	"maps"
	"slices"
)

// deliveryLatency is the limit of 99 of 100 deliveries at 500 per second, in
// milliseconds.
const deliveryLatency = 50

// deliveryFigures lists the latency of deliveries, for the available databases.
func deliveryFigures(deliveries map[string]result) []figure {
	var all []figure
	for _, where := range slices.Sorted(maps.Keys(deliveries)) {
		p99 := deliveries[where]["ms-p99"]
		all = append(all, limited("p99 of a delivery at 500/s, "+words(where), inMilliseconds(p99), inMilliseconds(deliveryLatency),
			p99/deliveryLatency, 1))
	}
	return all
}
