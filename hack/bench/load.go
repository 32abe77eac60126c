package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// loadArgument makes this program load the service and print
// those figures alone.
const loadArgument = "load"

// Limits of the service under load.
const (
	floodMemory   = 100 // MiB
	webhookLimit  = 50  // milliseconds, of 99 of 100 responses at 500 webhooks per second
	followMemory  = 256 // MiB
	followedHeads = 10_000
	lookUpLimit   = 1 // milliseconds
	// burstLimit is two reconciliations of a repository: another one may have read the image meanwhile.
	burstLimit = 2
	// headsLimit allows for repositories whose turn comes twice until the last one's comes.
	headsLimit = 1.1
)

// load is the results of the benchmarks of the service, by "SQLite" and so on.
type load struct {
	deliveries, bursts, followed, subscribers map[string]result
}

// measureLoad prints the figures of the load: some minutes.
func measureLoad(ctx context.Context, out io.Writer) error {
	var l load
	if err := l.measure(ctx, false); err != nil {
		return err
	}
	fmt.Fprintf(out, "machine   %s\n\n", machine("."))
	return printTable(out, l.figures())
}

// measure runs the benchmarks of the service. Its brief form repeats none, and leaves out the
// longest one.
func (l *load) measure(ctx context.Context, brief bool) (err error) {
	deliveries := "3x"
	if brief {
		deliveries = "1x"
	}
	for _, one := range []struct {
		into                *map[string]result
		folder, name, times string
		long                bool
	}{
		{&l.deliveries, "./hack/load", "BenchmarkDeliveries", deliveries, false},
		{&l.bursts, "./hack/load", "BenchmarkBurst", "1x", false},
		{&l.followed, "./hack/load", "BenchmarkFollowed", "1x", true},
		{&l.subscribers, "./internal/store", "BenchmarkSubscribers", "1s", false},
	} {
		if one.long && brief {
			continue
		}
		if *one.into, err = goBenchmark(ctx, one.folder, one.name, one.times); err != nil {
			return err
		}
	}
	return nil
}

func (l load) figures() (all []figure) {
	for _, at := range slices.Sorted(maps.Keys(l.deliveries)) {
		r := l.deliveries[at]
		all = append(all,
			limited("p99 of webhooks at 500/s, "+at, inMilliseconds(r["ms-p99"]), inMilliseconds(webhookLimit), r["ms-p99"]/webhookLimit, 1),
			figure{name: "webhooks in a flood, " + at, measured: fmt.Sprintf("%.0f/s", r["flood/s"])},
			limited("peak memory in the flood, "+at, inMebibytes(r["MiB"]), inMebibytes(floodMemory), r["MiB"]/floodMemory, 1))
	}
	for _, at := range slices.Sorted(maps.Keys(l.bursts)) {
		r := l.bursts[at]
		all = append(all, limited("reconciliations of each repository, 1,000 webhooks in 10 s, "+at, fmt.Sprintf("%.2f", r["reconciliations/repository"]), "1", r["reconciliations/repository"], burstLimit))
	}
	for _, at := range slices.Sorted(maps.Keys(l.followed)) {
		r := l.followed[at]
		all = append(all,
			limited("HEADs of a poll, 10,000 images, "+at, fmt.Sprintf("%.0f", r["HEADs"]), "10000", r["HEADs"]/followedHeads, headsLimit),
			figure{name: "other requests of it, " + at, measured: fmt.Sprintf("%.0f", r["others"])},
			limited("peak memory of 1,000 repositories, "+at, inMebibytes(r["MiB"]), inMebibytes(followMemory), r["MiB"]/followMemory, 1),
			figure{name: "from start to all reconciled, " + at, measured: fmt.Sprintf("%.1f s", r["s-start"])})
	}
	for _, at := range slices.Sorted(maps.Keys(l.subscribers)) {
		took := l.subscribers[at]["ns/op"] / 1e6
		all = append(all, limited("look-up of subscribers, "+at, inMilliseconds(took), inMilliseconds(lookUpLimit), took/lookUpLimit, 1))
	}
	return all
}

func words(name string) string { return strings.NewReplacer("_", " ", "/", ", ").Replace(name) }

func inMebibytes(n float64) string { return fmt.Sprintf("%.0f MiB", n) }
