package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"promoter/internal/benchtree"
	"promoter/internal/benchworld"
)

// Limits of planning against reading every file, and of a new image against Git's plumbing.
const (
	planLimit   = 0.55
	eventLimit  = 0.6
	idleLimit   = 2 // docs/decisions/0046-idle-runs.md
	startLimit  = 2
	pushedLimit = 1
	smallLimit  = 1.5
	warmMemory  = 80 // MiB
	growthLimit = 1  // of the plumbing's growth: docs/decisions/0012-growth.md
	// From the webhook to the end of its reconciliation, compared with the reconciliation.
	latencyLimit = 1.3
	coldLimit    = 1.5 // of a loop that only sends the same requests
)

// measureReconciliations measures the runs of this program and of the previous release, and
// reading all files of a tree between them.
func measureReconciliations(ctx context.Context, folder string, both releases, tree *workload, runs int) (this, previous *reconciliations, read samples, err error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, nil, nil, err
	}
	world, err := benchworld.Start(folder)
	if err != nil {
		return nil, nil, nil, err
	}
	defer world.Close()
	of := func(name, program string) *reconciliations {
		return &reconciliations{name: "bench/" + name + ".git", folder: filepath.Join(folder, name), program: program, size: benchtree.Full(), world: world}
	}
	this, previous = of("this", both.this), of("previous", both.previous)
	for _, p := range []*reconciliations{this, previous} {
		if err := p.prepare(ctx); err != nil {
			return nil, nil, nil, err
		}
	}
	read, err = measureRuns(ctx, runs, tree, this, previous)
	return this, previous, read, err
}

// reconciliationFigures lists what docs/performance.md promises of reconciliations.
func reconciliationFigures(p *reconciliations, read samples, t tests) []figure {
	plan := t.plan["ns/op"]
	all := []figure{
		limited("plan of 10,000 targets", inMilliseconds(plan/1e6), "reading every file "+milliseconds(read.median()), plan/float64(read.median()), planLimit),
		limited("memory of that plan", mebibytes(int64(t.plan["B/op"])), mebibytes(runMemoryLimit), t.plan["B/op"]/runMemoryLimit, 1),
	}
	for _, way := range []string{"file", "http"} {
		for _, form := range []string{"packed", "loose"} {
			all = append(all, eventFigures(way+", "+form, t.events[way+"/"+form])...)
		}
	}
	start := t.start
	all = append(all, limited("first reconciliation", inMilliseconds(start["ms-start"]),
		fmt.Sprintf("git clone --depth 1, %s, and scan, %s", inMilliseconds(start["ms-clone"]), inMilliseconds(start["ms-scan"])), start["x-counterpart"], startLimit))
	return append(all,
		figure{name: "run, nothing new", measured: p.idle.String()},
		idleFigure(p, read.median()),
		figure{name: "run, one new image", measured: p.event.String()},
		figure{name: "peak memory, run that makes the mirror", measured: p.memFirst.String()},
		memoryWithin("peak memory, run with one new image", p.memEvent, runMemoryLimit),
		memoryWithin("peak memory, run with 10,000 commits", p.memAll, allMemoryLimit),
	)
}

// idleFigure compares a run that finds nothing new with reading all files, without the time that
// its requests to the registry need.
func idleFigure(p *reconciliations, read time.Duration) figure {
	apart := p.idle.median() - p.bare.median()
	return limited("run, nothing new, without the registry", fmt.Sprintf("%s (registry %s)", milliseconds(apart), milliseconds(p.bare.median())),
		"reading every file "+milliseconds(read), float64(apart)/float64(read), idleLimit)
}

// latencyFigures are those of the service, by database: from the webhook to all pushes, compared
// with the plumbing and with a repository of 1,000 files, and to the end of the reconciliation.
func latencyFigures(latencies map[string]result) (all []figure) {
	for _, at := range slices.Sorted(maps.Keys(latencies)) {
		r := latencies[at]
		all = append(all,
			limited("webhook to all pushed, "+at, inMilliseconds(r["ms-pushed"]), "plumbing "+inMilliseconds(r["ms-hand"]), r["x-hand"], pushedLimit),
			limited("its growth, "+at, inMilliseconds(r["ms-pushed"]), "1000 files: "+inMilliseconds(r["ms-pushed-small"]), r["x-small"], smallLimit),
			figure{name: "the time of it outside the Git server", measured: inMilliseconds(r["ms-apart"]), basis: "1000 files: " + inMilliseconds(r["ms-apart-small"]), ratio: r["ms-apart"] / r["ms-apart-small"], reported: true},
			limited("webhook to the end of its reconciliation, "+at, inMilliseconds(r["ms-whole"]), "reconciliation "+inMilliseconds(r["ms-reconciliation"]), r["x-reconciliation"], latencyLimit),
			limited("the same, 1000 files, "+at, inMilliseconds(r["ms-whole-small"]), "reconciliation "+inMilliseconds(r["ms-reconciliation-small"]), r["x-reconciliation-small"], latencyLimit),
			limited("heap of a warm repository, over one of 1000 files, "+at, inMebibytes(r["MiB-warm"]), inMebibytes(warmMemory), r["MiB-warm"]/warmMemory, 1))
	}
	return all
}

// coldFigures are those of the first poll of many images: of a real registry, and of a handler that only
// answers, which shows what promoter itself takes.
func coldFigures(cold map[string]result) (all []figure) {
	perSecond := func(n float64) string { return fmt.Sprintf("%.0f/s", n) }
	if r, measured := cold["distribution"]; measured && r[skipped] == 0 {
		all = append(all, limited("first poll of 2,000 images, distribution", perSecond(r["requests/s"]), "loop "+perSecond(r["plain-requests/s"]), r["x-plain"], coldLimit))
	}
	r := cold["handler"]
	return append(all, figure{name: "first poll of 2,000 images, a handler", measured: perSecond(r["requests/s"]), basis: "loop " + perSecond(r["plain-requests/s"]), ratio: r["x-plain"], reported: true})
}

// eventFigures are those of one way to the server and one form of its objects.
func eventFigures(where string, r result) []figure {
	all := []figure{
		limited("new image, "+where, inMilliseconds(r["ms-own"]), "plumbing "+inMilliseconds(r["ms-hand"]), r["x-hand-own"], eventLimit),
		limited("its growth, "+where, times(r["x-small-own"]), "the plumbing's: "+times(r["x-small-hand"]), r["x-small-own"]/r["x-small-hand"], growthLimit),
	}
	if own, measured := r["ms-apart"]; measured {
		all = append(all, figure{name: "the time of it outside the Git server", measured: inMilliseconds(own), basis: "1000 files: " + inMilliseconds(r["ms-apart-small"]), ratio: r["x-small-apart"], reported: true})
	}
	return append(all, figure{name: "whole reconciliation, " + where, measured: inMilliseconds(r["ms-reconciliation"]), basis: "plumbing " + inMilliseconds(r["ms-hand"]), ratio: r["x-hand-reconciliation"], reported: true})
}

func times(ratio float64) string { return fmt.Sprintf("%.2f times", ratio) }

func inMilliseconds(ms float64) string { return fmt.Sprintf("%.1f ms", ms) }

// memoryWithin compares the memory that a process has for itself with a limit: the pages of the program's
// file are shared, and the system drops them when it needs room.
func memoryWithin(name string, found peak, limit int64) figure {
	return limited(name, found.String(), mebibytes(limit), float64(found.own)/float64(limit), 1)
}

// gitVersion is what Git calls itself.
func gitVersion(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return "an unknown Git"
	}
	return strings.TrimSpace(string(out))
}
