package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// soakArgument makes this program run all campaigns against the service: attacks, faults,
// load, mutants, and kills.
const soakArgument = "soak"

// Limits of the campaigns.
const (
	settledLimit = 60  // seconds from the end of a fault, and of a promotion beside the faults
	attackMemory = 512 // MiB
	exitLimit    = 30  // seconds: the grace period of a pod
)

// soak is the results of the campaigns.
type soak struct {
	attacks, faults, data map[string]result
	restarts              map[string]result // kills of a service whose versions land by pull requests
	load                  load
	kinds                 int // cases of all kinds of attacks, each repelled
	kills                 int // on each database
	mutants               int // that a test noticed
}

// campaign is one of them.
type campaign struct {
	name string
	run  func(context.Context) error
}

// measureSoak runs all campaigns for about some time, each of them at least once. Zero means
// their short form, without load and kills. A campaign that fails does not stop the others.
func measureSoak(ctx context.Context, out io.Writer, length time.Duration) error {
	var s soak
	groups := [][]campaign{s.long(time.Now().Add(length))}
	if length == 0 {
		groups = s.short()
	}
	err := runCampaigns(ctx, out, groups)
	fmt.Fprintf(out, "\nmachine   %s\n\n", machine("."))
	return errors.Join(err, printTable(out, s.figures()))
}

func (s *soak) long(end time.Time) []campaign {
	return []campaign{
		benchmark("attacks", &s.attacks, "./hack/attack", "BenchmarkAttack", func() string { return "1x" }),
		{"kinds", s.attackByKind},
		benchmark("data", &s.data, "./hack/faults", "BenchmarkData", func() string { return "1x" }),
		{"load", func(ctx context.Context) error { return s.load.measure(ctx, true) }},
		// A fifth of what is left, and the time that the tests take without a mutant.
		{"mutants", func(ctx context.Context) (err error) {
			s.mutants, err = killMutants(ctx, max(time.Second, time.Until(end)/5))
			return err
		}},
		// A quarter of what is left for each database, and the rest for kills.
		benchmark("faults", &s.faults, "./hack/faults", "BenchmarkFaults", func() string { return max(time.Second, time.Until(end)/4).String() }),
		benchmark("restarts", &s.restarts, "./hack/faults", "BenchmarkKills", func() string { return max(time.Second, time.Until(end)/8).String() }),
		{"kills", func(ctx context.Context) (err error) {
			s.kills, err = killUntil(ctx, end)
			return err
		}},
	}
}

// short returns campaigns that run at the same time: they wait most of it. It leaves out kinds, whose tests
// are those of `make test`.
func (s *soak) short() [][]campaign {
	once := func() string { return "1x" }
	return [][]campaign{
		{benchmark("attacks", &s.attacks, "./hack/attack", "BenchmarkAttack", once, "-short")},
		{benchmark("faults", &s.faults, "./hack/faults", "BenchmarkFaults", once, "-short")},
		{benchmark("data", &s.data, "./hack/faults", "BenchmarkData", once, "-short")},
		{benchmark("restarts", &s.restarts, "./hack/faults", "BenchmarkKills", once, "-short")},
	}
}

// benchmark is a campaign that is a Go benchmark. How often or long it runs is asked when it
// begins.
func benchmark(campaignName string, into *map[string]result, folder, name string, times func() string, flags ...string) campaign {
	return campaign{campaignName, func(ctx context.Context) (err error) {
		*into, err = goBenchmark(ctx, folder, name, times(), flags...)
		return err
	}}
}

// runCampaigns runs groups of campaigns at the same time, and those of a group one after the
// other.
func runCampaigns(ctx context.Context, out io.Writer, groups [][]campaign) error {
	var running sync.WaitGroup
	var mutex sync.Mutex
	var failures []error
	for _, group := range groups {
		running.Go(func() {
			for _, one := range group {
				begin := time.Now()
				err := one.run(ctx)
				mutex.Lock()
				verdict := "held"
				if err != nil {
					verdict = "FAILED"
					failures = append(failures, fmt.Errorf("%s: %w", one.name, err))
				}
				fmt.Fprintf(out, "%-8s %s after %v\n", one.name, verdict, time.Since(begin).Round(time.Second))
				mutex.Unlock()
			}
		})
	}
	running.Wait()
	return errors.Join(failures...)
}

// killUntil kills the service at random moments until a time, and returns how often on each
// database.
func killUntil(ctx context.Context, end time.Time) (kills int, err error) {
	const atOnce = 20
	for kills == 0 || time.Now().Before(end) {
		command := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout", "0", "-run", "^TestServe_killedAtAnyMoment$", "./internal/app")
		command.Env = append(os.Environ(), fmt.Sprintf("PROMOTER_KILLS=%d", atOnce))
		if output, err := command.CombinedOutput(); err != nil {
			return kills, fmt.Errorf("%w\n%s", err, output)
		}
		kills += atOnce
	}
	return kills, nil
}

// attackByKind runs the tests that are attacks, and counts their cases.
func (s *soak) attackByKind(ctx context.Context) error {
	output, err := exec.CommandContext(ctx, "go", "run", "./hack/attack/kinds").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	found := regexp.MustCompile(`(?m)^all +(\d+)$`).FindSubmatch(bytes.TrimSpace(output))
	if found == nil {
		return fmt.Errorf("hack/attack/kinds does not print how many cases ran, but\n%s", output)
	}
	s.kinds, err = strconv.Atoi(string(found[1]))
	return err
}

// killMutants tests mutants for some time, and returns how many of them a test noticed.
func killMutants(ctx context.Context, length time.Duration) (killed int, err error) {
	output, err := exec.CommandContext(ctx, "go", "run", "./hack/mutants", "-for", length.String()).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, output)
	}
	found := regexp.MustCompile(`(?m)^killed +(\d+)$`).FindSubmatch(output)
	if found == nil {
		return 0, fmt.Errorf("hack/mutants does not print how many are killed, but\n%s", output)
	}
	return strconv.Atoi(string(found[1]))
}

// figures lists what all campaigns measured.
func (s *soak) figures() (all []figure) {
	for _, name := range slices.Sorted(maps.Keys(s.attacks)) {
		r, attack := s.attacks[name], words(name)
		all = append(all,
			figure{name: "promotion of the victim, " + attack, measured: inSeconds(r["s-victim"])},
			limited("peak memory, "+attack, inMebibytes(r["MiB"]), inMebibytes(attackMemory), r["MiB"]/attackMemory, 1),
			limited("exit, "+attack, inSeconds(r["s-exit"]), inSeconds(exitLimit), r["s-exit"]/exitLimit, 1))
	}
	settled := map[string]float64{}
	for _, campaign := range []map[string]result{s.faults, s.data, s.restarts} {
		for name, values := range campaign {
			if values[skipped] > 0 {
				all = append(all, figure{name: "settled after " + name, measured: "skipped: impossible on this machine"})
			}
			for unit, value := range values {
				if fault, ok := strings.CutPrefix(unit, "s:"); ok {
					settled[fault] = max(settled[fault], value)
				}
			}
		}
	}
	for _, fault := range slices.Sorted(maps.Keys(settled)) {
		name := "settled after " + fault
		if fault == "none" {
			name = "promotion of a repository beside all faults"
		}
		all = append(all, limited(name, inSeconds(settled[fault]), inSeconds(settledLimit), settled[fault]/settledLimit, 1))
	}
	for _, kind := range slices.Sorted(maps.Keys(s.faults)) {
		all = append(all, figure{name: "peak memory beside all faults, " + kind, measured: inMebibytes(s.faults[kind]["MiB"])})
	}
	if s.kinds > 0 {
		all = append(all, figure{name: "cases of attacks by kind, each repelled", measured: fmt.Sprint(s.kinds)})
	}
	for _, kind := range slices.Sorted(maps.Keys(s.restarts)) {
		all = append(all, figure{name: "kills of a service beside pull requests, " + kind, measured: fmt.Sprint(s.restarts[kind]["kills"])})
	}
	if s.kills > 0 {
		all = append(all, figure{name: "kills on each database, without a loss", measured: fmt.Sprint(s.kills)})
	}
	if s.mutants > 0 {
		all = append(all, figure{name: "mutants, each noticed by a test", measured: fmt.Sprint(s.mutants)})
	}
	return append(all, s.load.figures()...)
}

func inSeconds(s float64) string { return fmt.Sprintf("%.1f s", s) }
