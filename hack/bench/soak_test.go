package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestSoakFigures(t *testing.T) {
	t.Parallel()
	read := func(name, output string) map[string]result {
		results, err := readResults(name, output)
		if err != nil {
			t.Fatal(err)
		}
		return results
	}
	s := soak{
		attacks: read("BenchmarkAttack", "BenchmarkAttack/500_dense_files-2 1 600.5 MiB 1.5 s-exit 0.25 s-victim"),
		faults: read("BenchmarkFaults", "BenchmarkFaults/SQLite-2 1 56 MiB 0.2 s-exit 4.5 s:git-401 5.5 s:none\n"+
			"BenchmarkFaults/PostgreSQL-2 1 50 MiB 0.2 s-exit 61 s:git-401 4.5 s:none"),
		data:     read("BenchmarkData", "BenchmarkData/mirror-deleted-2 1 1.5 s:mirror-deleted\n--- SKIP: BenchmarkData/disk-full\n    data_test.go:1: no"),
		restarts: read("BenchmarkKills", "BenchmarkKills/SQLite-2 1 4 kills 25.4 s:kills-gitea-1"),
		kinds:    2384, kills: 40, mutants: 30,
	}
	var out strings.Builder
	if err := printTable(&out, s.figures()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"peak memory, 500 dense files 600 MiB 512 MiB 1.17 1.00 over", "settled after git-401 61.0 s 60.0 s 1.02 1.00 over",
		"settled after mirror-deleted 1.5 s 60.0 s 0.03 1.00 ok", "settled after disk-full skipped",
		"settled after kills-gitea-1 25.4 s 60.0 s 0.42 1.00 ok", "kills of a service beside pull requests, SQLite 4", "beside all faults 5.5 s 60.0 s 0.09 1.00 ok", "each repelled 2384", "without a loss 40", "noticed by a test 30",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestRunCampaigns_continueAfterAFailure(t *testing.T) {
	t.Parallel()
	failure := errors.New("it does not settle")
	ran := false
	var out strings.Builder
	err := runCampaigns(t.Context(), &out, [][]campaign{{
		{"faults", func(context.Context) error { return failure }},
		{"kills", func(context.Context) error { ran = true; return nil }},
	}})
	if !errors.Is(err, failure) || !ran || !strings.Contains(out.String(), "faults   FAILED") || !strings.Contains(out.String(), "kills    held") {
		t.Errorf("%v, the next one ran: %t\n%s", err, ran, &out)
	}
}
