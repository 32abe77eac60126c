package main

import (
	"context"
	"fmt"
	"io"
)

// fleetArgument makes this program measure thousands of repositories and three replicas alone.
const fleetArgument = "fleet"

// Limits of a fleet.
const (
	fleetMemory  = 80 // MiB of each replica for 1,000 repositories
	fleetQueries = 25 // of each reconciliation
	fleetShare   = 0.5
	fleetImages  = 10 // of each repository
	pollLatency  = 5  // times that of a webhook at rest
	burstLatency = 10
)

// fullFleet is how many repositories the limit of the memory is for.
const fullFleet = 10_000

// measureFleet prints the figures of a fleet. With 10,000 repositories, it takes some minutes.
func measureFleet(ctx context.Context, out io.Writer, repositories int) error {
	results, err := goBenchmark(ctx, "./hack/load", "BenchmarkFleet", "1x", fmt.Sprint("-repositories=", repositories))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "machine   %s\n\n", machine("."))
	return printTable(out, fleetFigures(results["BenchmarkFleet"], repositories))
}

func fleetFigures(r result, repositories int) []figure {
	if _, ok := r[skipped]; ok || r == nil {
		return []figure{{name: "fleet", measured: "not measured: there is no PostgreSQL"}}
	}
	images := float64(repositories * fleetImages)
	seconds := func(n float64) string { return fmt.Sprintf("%.1f s", n) }
	all := []figure{
		{name: fmt.Sprintf("from start to all of %d reconciled, without mirrors", repositories), measured: seconds(r["s-first"])},
		{name: "processor time of it for each repository, replicas", measured: inMilliseconds(r["ms-CPU-first/repository"])},
		{name: "processor time of it for each repository, PostgreSQL", measured: inMilliseconds(r["ms-PostgreSQL-first/repository"])},
		{name: "a poll without changes", measured: seconds(r["s-poll"])},
		{name: "processor time of it for each repository, replicas", measured: inMilliseconds(r["ms-CPU/reconciliation"])},
		{name: "processor time of it for each repository, PostgreSQL", measured: inMilliseconds(r["ms-PostgreSQL/reconciliation"])},
		limited("reconciliations of it", fmt.Sprintf("%.0f", r["reconciliations"]), fmt.Sprint(repositories), r["reconciliations"]/float64(repositories), 1),
		limited("images that it queried", fmt.Sprintf("%.0f", r["images-queried"]), fmt.Sprintf("%.0f", images), r["images-queried"]/images, 1),
		limited("HEADs of one image, at most", fmt.Sprintf("%.0f", r["HEADs-most"]), "1", r["HEADs-most"], 1),
		limited("queries of it for each repository", fmt.Sprintf("%.1f", r["queries/reconciliation"]), fmt.Sprint(fleetQueries), r["queries/reconciliation"]/fleetQueries, 1),
		limited("queries of it for each image", fmt.Sprintf("%.0f", r["queries/image"]), "0", r["queries/image"], 0),
		{name: "transactions of it for each repository", measured: fmt.Sprintf("%.1f", r["transactions/reconciliation"])},
		limited("part of the busiest of three replicas", fmt.Sprintf("%.2f", r["share-most"]), fmt.Sprint(fleetShare), r["share-most"]/fleetShare, 1),
		{name: "peak memory of a replica", measured: inMebibytes(r["MiB"])},
		limited("more than one repository needs, for each 1,000", inMebibytes(r["MiB/1000-repositories"]), inMebibytes(fleetMemory), r["MiB/1000-repositories"]/fleetMemory, 1),
		{name: "queries in a second in which nothing happens", measured: fmt.Sprintf("%.0f", r["queries/s-idle"])},
		{name: "webhook to push at rest, median", measured: inMilliseconds(r["ms-median-rest"])},
		{name: "webhook to push at rest, 95th percentile", measured: inMilliseconds(r["ms-p95-rest"])},
		limited("webhook to push during a poll, median", inMilliseconds(r["ms-median-poll"]), "at rest, "+inMilliseconds(r["ms-median-rest"]), r["ms-median-poll"]/r["ms-median-rest"], pollLatency),
		limited("webhook to push during a poll, 95th percentile", inMilliseconds(r["ms-p95-poll"]), "at rest, "+inMilliseconds(r["ms-p95-rest"]), r["ms-p95-poll"]/r["ms-p95-rest"], pollLatency),
		{name: "500 webhooks of a large tenant at once, to the last push", measured: inMilliseconds(r["ms-burst"])},
		{name: "and to their median push", measured: inMilliseconds(r["ms-median-large"])},
		limited("webhook to push of a small tenant meanwhile, median", inMilliseconds(r["ms-median-small"]), "at rest, "+inMilliseconds(r["ms-median-rest"]), r["ms-median-small"]/r["ms-median-rest"], burstLatency),
		limited("webhook to push of a small tenant meanwhile, 95th percentile", inMilliseconds(r["ms-p95-small"]), "at rest, "+inMilliseconds(r["ms-p95-rest"]), r["ms-p95-small"]/r["ms-p95-rest"], burstLatency),
	}
	for i := range all { // caches are filled first, up to their limits
		if all[i].basis == inMebibytes(fleetMemory) && repositories < fullFleet {
			all[i].limited, all[i].reported = false, true
		}
	}
	return all
}
