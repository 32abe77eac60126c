package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeliveryFiguresCompareTheLatencyWithItsLimit(t *testing.T) {
	t.Parallel()
	output := "BenchmarkDelivery/SQLite/100_repositories-2 \t 4 \t 1.5 ms-median \t 75.0 ms-p99\n" +
		"BenchmarkDelivery/SQLite/1_repositories-2 \t 4 \t 0.7 ms-median \t 5.0 ms-p99\n"
	results, err := readResults(deliveryBenchmark, output)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := printTable(&out, deliveryFigures(results)); err != nil {
		t.Fatal(err)
	}
	want := `figure                                                 measured   compared with   ratio   limit   
p99 of a delivery at 500/s, SQLite, 100 repositories   75.0 ms    50.0 ms         1.50    1.00    over
p99 of a delivery at 500/s, SQLite, 1 repositories     5.0 ms     50.0 ms         0.10    1.00    ok
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
