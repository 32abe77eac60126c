package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecoveryFigures(t *testing.T) {
	t.Parallel()
	results, err := readResults(recoveryBenchmark, `
BenchmarkRecovery/SQLite-2         5  499906501 ns/op  1000 ms-limit  264.4 ms-recovery  419.3 ms-worst  0.2644 x-limit
BenchmarkRecovery/PostgreSQL-2     5  4524236141 ns/op  3000 ms-limit  2353 ms-recovery  3106 ms-worst  0.7843 x-limit
`)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"work continues after a crash, PostgreSQL", "2353 ms (at most 3106 ms)", "3000 ms", "ok"},
		{"work continues after a crash, SQLite", "264 ms (at most 419 ms)", "1000 ms", "ok"},
	}
	var got [][]string
	for _, f := range recoveryFigures(results) {
		got = append(got, []string{f.name, f.measured, f.basis, f.verdict()})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}
