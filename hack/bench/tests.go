package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The Go benchmarks that measure parts, with their packages.
const (
	editBenchmark  = "BenchmarkRewriteFile"    // of one file
	planBenchmark  = "BenchmarkPlan_withForge" // 2,000 applications in five environments
	eventBenchmark = "BenchmarkEvent"          // a new image in five environments, against Git's plumbing

	startBenchmark = "BenchmarkStart" // the first reconciliation of a repository
	// A new image in the service, against Git's plumbing and a small repository.
	latencyBenchmark = "BenchmarkLatency"
	// 2,000 images by their moving tags, against a loop that only sends the same requests.
	coldBenchmark = "BenchmarkColdPoll"

	recoveryBenchmark = "BenchmarkRecovery" // a process dies in the middle of a reconciliation
)

// tests are the results of Go benchmarks.
type tests struct {
	edit   time.Duration
	plan   result
	events map[string]result // by "file/packed" and so on

	start      result
	latencies  map[string]result // by the database
	cold       map[string]result // by the registry
	recoveries map[string]result // by the database
}

// result is one line of a benchmark: its values by their units.
type result map[string]float64

func testBenchmarks(ctx context.Context, runs int) (tests, error) {
	edit, err := goBenchmark(ctx, "./internal/updater", editBenchmark, "1s")
	if err != nil {
		return tests{}, err
	}
	plan, err := goBenchmark(ctx, "./internal/promotion/decide", planBenchmark, "1s")
	if err != nil {
		return tests{}, err
	}
	events, err := goBenchmark(ctx, "./internal/workspace", eventBenchmark, fmt.Sprintf("%dx", runs))
	if err != nil {
		return tests{}, err
	}
	start, err := goBenchmark(ctx, "./internal/workspace", startBenchmark, fmt.Sprintf("%dx", runs))
	if err != nil {
		return tests{}, err
	}
	latencies, err := goBenchmark(ctx, "./hack/load", latencyBenchmark, fmt.Sprintf("%dx", runs))
	if err != nil {
		return tests{}, err
	}
	cold, err := goBenchmark(ctx, "./internal/registry", coldBenchmark, fmt.Sprintf("%dx", runs))
	if err != nil {
		return tests{}, err
	}
	recoveries, err := goBenchmark(ctx, "./internal/app", recoveryBenchmark, fmt.Sprintf("%dx", runs))
	if err != nil {
		return tests{}, err
	}
	return tests{
		edit: time.Duration(edit[editBenchmark]["ns/op"]), plan: plan[planBenchmark], events: events,
		start: start[startBenchmark], latencies: latencies, cold: cold, recoveries: recoveries,
	}, nil
}

// goBenchmark runs one benchmark and reads its lines. It may have more flags of go test, or of the
// benchmark.
func goBenchmark(ctx context.Context, folder, name, benchTime string, flags ...string) (map[string]result, error) {
	words := append([]string{"test", "-run", "^$", "-bench", "^" + name + "$", "-benchtime", benchTime, "-benchmem", "-timeout", "60m", folder}, flags...)
	output, err := exec.CommandContext(ctx, "go", words...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w\n%s", name, err, output)
	}
	return readResults(name, string(output))
}

var (
	benchmarkLine = regexp.MustCompile(`^(Benchmark\S*?)(?:-\d+)?\s+\d+\s+(.*)$`)
	skippedLine   = regexp.MustCompile(`^--- SKIP: (Benchmark\S*?)(?:-\d+)?$`)
)

// skipped is the unit of a benchmark that is impossible on this machine.
const skipped = "skipped"

// readResults reads the lines of a benchmark, by what follows its name.
func readResults(name, output string) (map[string]result, error) {
	found := map[string]result{}
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if parts := skippedLine.FindStringSubmatch(line); parts != nil {
			found[strings.TrimPrefix(parts[1], name+"/")] = result{skipped: 1}
		}
		parts := benchmarkLine.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		values, fields := result{}, strings.Fields(parts[2])
		for i := 0; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("read the result of %s: %w", name, err)
			}
			values[fields[i+1]] = value
		}
		found[strings.TrimPrefix(parts[1], name+"/")] = values
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no result of %s in:\n%s", name, output)
	}
	return found, nil
}
