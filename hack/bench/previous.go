package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"promoter/internal/benchtree"
)

// sameLimit is for what must not become slower or larger than in the previous release.
const sameLimit = 1.05

// startRuns is how often a command is measured that only starts the program: it is short.
const startRuns = 5 // times that of the others

// releases are this program and the previous release, which hack/tools builds.
type releases struct{ this, previous string }

// newReleases copies both programs, so that the system has their pages in memory in the same way:
// how many it maps around each that is needed depends on how a file was written.
func newReleases(ctx context.Context, folder, program string) (releases, error) {
	command := exec.CommandContext(ctx, "hack/tools", "previous")
	command.Stderr = os.Stderr
	built, err := command.Output()
	if err != nil {
		return releases{}, fmt.Errorf("build the previous release: %w", err)
	}
	both := releases{this: filepath.Join(folder, "this"), previous: filepath.Join(folder, "previous")}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return both, err
	}
	for from, to := range map[string]string{program: both.this, strings.TrimSpace(string(built)): both.previous} {
		content, err := os.ReadFile(from)
		if err != nil {
			return both, err
		}
		if err := os.WriteFile(to, content, 0o700); err != nil { //nolint:gosec // it is a program
			return both, err
		}
	}
	return both, nil
}

// compared is what both programs did, in turns.
type compared struct {
	name                   string
	this, previous         samples
	thisPeak, previousPeak peak // the worst of the runs; zero: not measured
}

// task is a command that both programs execute. Each run has its number, so that it can find
// something to do.
type task struct {
	name   string
	times  int // the runs, and those of its memory
	memory bool
	words  func(run int) (words []string, stdin string)
}

// measurePrevious compares the commands in a checkout with those of the previous release.
func measurePrevious(ctx context.Context, both releases, large, small *workload, runs int) (all []compared, err error) {
	for _, one := range tasks(large, small, runs) {
		c := compared{name: one.name}
		n := 0
		for range one.times {
			for program, into := range map[string]*samples{both.this: &c.this, both.previous: &c.previous} {
				n++
				words, stdin := one.words(n)
				took, err := execute(ctx, append([]string{program}, words...), strings.NewReader(stdin), io.Discard)
				if err != nil {
					return nil, err
				}
				*into = append(*into, took)
			}
		}
		for range memoryRuns {
			if !one.memory {
				break
			}
			for program, into := range map[string]*peak{both.this: &c.thisPeak, both.previous: &c.previousPeak} {
				n++
				words, stdin := one.words(n)
				found, err := peakOf(ctx, append([]string{program}, words...), stdin)
				if err != nil {
					return nil, err
				}
				*into = into.atLeast(found)
			}
		}
		all = append(all, c)
	}
	return all, nil
}

func tasks(large, small *workload, runs int) []task {
	always := func(words ...string) func(int) ([]string, string) {
		return func(int) ([]string, string) { return words, "" }
	}
	// Each apply writes newer tags than the one before it.
	applyOne := func(w *workload) func(int) ([]string, string) {
		return func(run int) ([]string, string) {
			return []string{"apply", "--dir", w.dir, "--with", fmt.Sprintf("%s:3.0.%d", benchtree.Image(0), run)}, ""
		}
	}
	applyAll := func(w *workload) func(int) ([]string, string) {
		return func(run int) ([]string, string) {
			return []string{"apply", "--dir", w.dir, "--with", "-"}, strings.ReplaceAll(w.all, newTag, fmt.Sprintf("4.0.%d", run))
		}
	}
	return []task{
		{"version", startRuns * runs, true, always("version")},
		{"--help", startRuns * runs, false, always("--help")},
		{"plan, one image, 1,000 files", startRuns * runs, true, always(small.oneCommand()[1:]...)},
		{"plan, one image", runs, true, always(large.oneCommand()[1:]...)},
		{"plan, all images", runs, true, func(int) ([]string, string) { return large.allCommand()[1:], large.all }},
		{"apply, one image", runs, true, applyOne(large)},
		{"apply, all images, 1,000 files", runs, true, applyAll(small)},
	}
}

// same compares a value with that of the previous release.
func same(name, this, previous string, ratio float64) figure {
	return limited(name, this, "previous release "+previous, ratio, sameLimit)
}

func sameTime(name string, this, previous samples) figure {
	return same(name, this.String(), milliseconds(previous.median()), float64(this.median())/float64(previous.median()))
}

func sameSize(name string, this, previous int64) figure {
	return same(name, mebibytes(this), mebibytes(previous), float64(this)/float64(previous))
}

// sameMemory compares the memory without the program, whose size is a figure of its own.
func sameMemory(name string, this, previous peak) figure {
	return sameSize("memory, "+name, this.own, previous.own)
}

// previousFigures lists what became slower or larger than in the previous release.
func previousFigures(both releases, commands []compared, this, previous *reconciliations) (all []figure, err error) {
	var sizes [2]int64
	for i, program := range []string{both.this, both.previous} {
		info, err := os.Stat(program)
		if err != nil {
			return nil, err
		}
		sizes[i] = info.Size()
	}
	all = append(all, sameSize("size of the program", sizes[0], sizes[1]))
	for _, c := range commands {
		all = append(all, sameTime("time, "+c.name, c.this, c.previous))
		if c.thisPeak.own > 0 {
			all = append(all, sameMemory(c.name, c.thisPeak, c.previousPeak))
		}
	}
	return append(all,
		sameTime("time, run, nothing new", this.idle, previous.idle),
		sameTime("time, run, one new image", this.event, previous.event),
		sameMemory("run that makes the mirror", this.memFirst, previous.memFirst),
		sameMemory("run, one new image", this.memEvent, previous.memEvent),
	), nil
}
