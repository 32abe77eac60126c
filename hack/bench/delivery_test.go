package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeliveryFiguresAreOfTheDatabasesThatAreThere(t *testing.T) {
	t.Parallel()
	output := "BenchmarkDelivery/SQLite/100_lanes-2 \t 40 \t 10000 bare/s \t 5000 own/s \t 2.0 x-bare-own\n" +
		"BenchmarkDelivery/SQLite/1_lanes-2 \t 40 \t 10000 bare/s \t 8000 own/s \t 1.25 x-bare-own\n"
	results, err := readResults(deliveryBenchmark, output)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := printTable(&out, deliveryFigures(results)); err != nil {
		t.Fatal(err)
	}
	want := `figure                         measured   compared with   ratio   limit   
a delivery, SQLite/100 lanes   5000/s     bare 10000/s    2.00    1.67    over
a delivery, SQLite/1 lanes     8000/s     bare 10000/s    1.25    1.67    ok
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
