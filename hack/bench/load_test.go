package main

import (
	"strings"
	"testing"
)

func TestLoadFigures(t *testing.T) {
	t.Parallel()
	read := func(name, output string) map[string]result {
		results, err := readResults(name, output)
		if err != nil {
			t.Fatal(err)
		}
		return results
	}
	l := load{
		deliveries:  read("BenchmarkDeliveries", "BenchmarkDeliveries/SQLite-2 3 61.0 MiB 1000 flood/s 4.2 ms-median 97.5 ms-p99"),
		followed:    read("BenchmarkFollowed", "BenchmarkFollowed/SQLite-2 1 10000 HEADs 89.3 MiB 7798 others 31 s-start"),
		subscribers: read("BenchmarkSubscribers", "BenchmarkSubscribers/SQLite-2 6904 153269 ns/op"),
	}
	var out strings.Builder
	if err := printTable(&out, l.figures()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"flood, SQLite 1000/s", "97.5 ms 50.0 ms 1.95 1.00 over", "61 MiB 100 MiB 0.61 1.00 ok",
		"10000 10000 1.00 1.10 ok", "89 MiB 256 MiB 0.35 1.00 ok", "0.2 ms 1.0 ms 0.15 1.00 ok",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
