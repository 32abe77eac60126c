package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// editBenchmark is the Go benchmark that rewrites one file, in internal/updater.
const editBenchmark = "BenchmarkRewriteFile"

// editOfOneFile runs the Go benchmark and reads its time.
func editOfOneFile(ctx context.Context) (time.Duration, error) {
	command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^"+editBenchmark+"$", "./internal/updater")
	output, err := command.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("run %s: %w\n%s", editBenchmark, err, output)
	}
	return nanosecondsPerOp(output)
}

func nanosecondsPerOp(output []byte) (time.Duration, error) {
	found := regexp.MustCompile(`(?m)^` + editBenchmark + `\S*\s+\d+\s+([0-9.]+) ns/op`).FindSubmatch(output)
	if found == nil {
		return 0, fmt.Errorf("no result of %s in:\n%s", editBenchmark, output)
	}
	nanoseconds, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		return 0, fmt.Errorf("read the result of %s: %w", editBenchmark, err)
	}
	return time.Duration(nanoseconds), nil
}
