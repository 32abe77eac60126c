package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"promoter/internal/benchtree"
	"promoter/internal/benchworld"
)

// Limits of planning, and of a new image against Git's plumbing.
const (
	planLimit   = 200 * time.Millisecond
	eventLimit  = 0.6
	growthLimit = 1 // of the plumbing's growth: docs/decisions/0012-growth.md
)

func measureReconciliations(ctx context.Context, folder, program string, runs int) (*reconciliations, error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, err
	}
	world, err := benchworld.Start(folder)
	if err != nil {
		return nil, err
	}
	defer world.Close()
	p := &reconciliations{folder: folder, program: program, size: benchtree.Full(), world: world}
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	return p, p.measure(ctx, runs)
}

// reconciliationFigures lists what docs/performance.md promises of reconciliations.
func reconciliationFigures(p *reconciliations, t tests) []figure {
	plan := t.plan["ns/op"]
	all := []figure{
		limited("plan of 10,000 targets", inMilliseconds(plan/1e6), planLimit.String(), plan/float64(planLimit), 1),
		memoryWithin("memory of that plan", int64(t.plan["B/op"]), runMemoryLimit),
	}
	for _, way := range []string{"file", "http"} {
		for _, form := range []string{"packed", "loose"} {
			all = append(all, eventFigures(way+", "+form, t.events[way+"/"+form])...)
		}
	}
	return append(all,
		figure{name: "run, nothing new", measured: p.idle.String()},
		figure{name: "run, one new image", measured: p.event.String()},
		figure{name: "peak memory, run that makes the mirror", measured: mebibytes(p.memFirst)},
		memoryWithin("peak memory, run with one new image", p.memEvent, runMemoryLimit),
		memoryWithin("peak memory, run with 10,000 commits", p.memAll, allMemoryLimit),
	)
}

// eventFigures are those of one way to the server and one form of its objects.
func eventFigures(where string, r result) []figure {
	all := []figure{
		limited("new image, "+where, inMilliseconds(r["ms-own"]), "plumbing "+inMilliseconds(r["ms-hand"]), r["x-hand-own"], eventLimit),
		limited("its growth, "+where, times(r["x-small-own"]), "the plumbing's: "+times(r["x-small-hand"]), r["x-small-own"]/r["x-small-hand"], growthLimit),
	}
	if own, measured := r["ms-apart"]; measured {
		all = append(all, figure{name: "the time of it outside the server", measured: inMilliseconds(own), basis: "1000 files: " + inMilliseconds(r["ms-apart-small"]), ratio: r["x-small-apart"], reported: true})
	}
	return append(all, figure{name: "whole reconciliation, " + where, measured: inMilliseconds(r["ms-reconciliation"]), basis: "plumbing " + inMilliseconds(r["ms-hand"]), ratio: r["x-hand-reconciliation"], reported: true})
}

func times(ratio float64) string { return fmt.Sprintf("%.2f times", ratio) }

func inMilliseconds(ms float64) string { return fmt.Sprintf("%.1f ms", ms) }

func memoryWithin(name string, bytes, limit int64) figure {
	return limited(name, mebibytes(bytes), mebibytes(limit), float64(bytes)/float64(limit), 1)
}

// gitVersion is what Git calls itself.
func gitVersion(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return "an unknown Git"
	}
	return strings.TrimSpace(string(out))
}
