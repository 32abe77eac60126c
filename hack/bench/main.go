// Command bench measures what docs/performance.md promises and prints each
// figure beside its limit. It exits with an error only when measuring itself
// failed: a figure over its limit is a finding, not a failure.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"promoter/internal/benchtree"
)

func main() {
	runs := flag.Int("runs", 10, "how often each figure is measured; the median counts")
	soakFor := flag.Duration("for", 20*time.Minute, "how long the campaigns run about; zero: their short form")
	repositories := flag.Int("repositories", fullFleet, "how many repositories the fleet has")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var err error
	switch flag.Arg(0) {
	case peakArgument:
		err = printPeak(ctx, os.Stdout, flag.Args()[1:])
	case loadArgument:
		err = measureLoad(ctx, os.Stdout)
	case fleetArgument:
		err = measureFleet(ctx, os.Stdout, *repositories)
	case soakArgument:
		err = measureSoak(ctx, os.Stdout, *soakFor)
	default:
		err = run(ctx, os.Stdout, *runs)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, runs int) error {
	folder, err := os.MkdirTemp("", "promoter-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	program := filepath.Join(folder, "promoter")
	if err := build(ctx, program); err != nil {
		return err
	}
	large, err := newWorkload(filepath.Join(folder, "large"), program, benchtree.Full())
	if err != nil {
		return err
	}
	small, err := newWorkload(filepath.Join(folder, "small"), program, benchtree.Small())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "machine   %s\n", machine(folder))
	for _, one := range []*workload{large, small} {
		if err := one.verify(ctx); err != nil {
			return err
		}
		fmt.Fprintf(out, "tree      %s\n", one)
		if err := one.measure(ctx, runs); err != nil {
			return err
		}
		if err := one.measureMemory(ctx); err != nil {
			return err
		}
	}
	both, err := newReleases(ctx, filepath.Join(folder, "releases"), program)
	if err != nil {
		return err
	}
	this, previous, read, err := measureReconciliations(ctx, filepath.Join(folder, "reconciliations"), both, large, runs)
	if err != nil {
		return err
	}
	commands, err := measurePrevious(ctx, both, large, small, runs)
	if err != nil {
		return err
	}
	nothingSlower, err := previousFigures(both, commands, this, previous)
	if err != nil {
		return err
	}
	registries, err := measureRegistryPlan(ctx, filepath.Join(folder, "registry"), program, runs)
	if err != nil {
		return err
	}
	tests, err := testBenchmarks(ctx, runs)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "runs      in a bare clone and a mirror of %d files, with %s\n", this.size.Len(), gitVersion(ctx))
	fmt.Fprintf(out, "medians   of %d runs, warm page cache, LC_ALL=C\n\n", runs)
	return printTable(out, slices.Concat(figures(large, small, tests.edit), registryPlanFigures(registries), reconciliationFigures(this, read, tests), latencyFigures(tests.latencies), coldFigures(tests.cold), recoveryFigures(tests.recoveries), nothingSlower))
}

// build makes the binary as a release does.
func build(ctx context.Context, program string) error {
	command := exec.CommandContext(ctx, "go", "build", "-buildvcs=true", "-trimpath", "-ldflags", "-s -w", "-o", program, "./cmd/promoter")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build promoter (from the root of the module): %w\n%s", err, output)
	}
	return nil
}
