package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/benchtree"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   samples
		want time.Duration
	}{
		{"nothing measured", nil, 0},
		{"one", samples{7}, 7},
		{"odd", samples{9, 1, 5}, 5},
		{"even", samples{9, 1, 5, 7}, 6},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.in.median(); got != test.want {
				t.Errorf("median of %v is %d, want %d", []time.Duration(test.in), got, test.want)
			}
		})
	}
}

func TestFiguresStandBesideTheirLimits(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	large := &workload{
		size: benchtree.Full(), memOne: peak{resident: 75 << 20, own: 20 << 20}, memAll: peak{resident: 300 << 20, own: 240 << 20},
		grep: samples{100 * ms}, read: samples{100 * ms}, planOne: samples{120 * ms}, planAll: samples{800 * ms},
	}
	small := &workload{size: benchtree.Small(), planOne: samples{12 * ms}, planAll: samples{20 * ms}}
	var out strings.Builder
	if err := printTable(&out, figures(large, small, 50*time.Microsecond)); err != nil {
		t.Fatal(err)
	}
	want := `figure                            measured                       compared with             ratio   limit   
grep -rlF for one image           100.0 ms (100.0 to 100.0 ms)                                             
reading every file in a Go loop   100.0 ms (100.0 to 100.0 ms)                                             
plan --with, one image            120.0 ms (120.0 to 120.0 ms)   grep 100.0 ms             1.20    1.50    ok
plan --with -, all images         800.0 ms (800.0 to 800.0 ms)   grep + reading 200.0 ms   4.00    6.00    ok
peak memory, one image            75.0 MiB (own 20.0 MiB)        150.0 MiB                 0.13    1.00    ok
peak memory, all images           300.0 MiB (own 240.0 MiB)      150.0 MiB                 1.60    1.00    over
time per file, one image          6µs                            1000 files: 12µs          0.50    1.00    ok
time per file, all images         40µs                           1000 files: 20µs          2.00    1.00    over
edit of one file                  50µs                           reading one 5µs           10.00   11.00   ok
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestReadEveryFileCounts(t *testing.T) {
	t.Parallel()
	size := benchtree.Size{Applications: 2, Environments: 3}
	dir := t.TempDir()
	if err := size.Write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := readEveryFile(dir, size.Len()); err != nil {
		t.Error(err)
	}
	if _, err := readEveryFile(dir, size.Len()+1); err == nil {
		t.Error("a missing file is not noticed")
	}
}

func TestExecuteSaysWhatFailed(t *testing.T) {
	t.Parallel()
	_, err := execute(t.Context(), []string{"go", "no-such-verb"}, nil, &counter{})
	if err == nil || !strings.Contains(err.Error(), "no-such-verb") {
		t.Errorf("error %v does not say which command failed", err)
	}
}

func TestReadResults(t *testing.T) {
	t.Parallel()
	output := "goos: linux\nBenchmarkX/file/packed-2   \t 40\t 28345.5 ns/op\t 0.5 x-hand\nBenchmarkX-16 \t 7 12 ns/op\nPASS\n"
	got, err := readResults("BenchmarkX", output)
	want := map[string]result{"file/packed": {"ns/op": 28345.5, "x-hand": 0.5}, "BenchmarkX": {"ns/op": 12}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := readResults("BenchmarkX", "PASS\n"); err == nil {
		t.Error("a missing result is not noticed")
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		folder, mount string
		want          bool
	}{
		{"/tmp/x", "/", true},
		{"/tmp/x", "/tmp", true},
		{"/tmp", "/tmp", true},
		{"/tmpx", "/tmp", false},
	} {
		if got := within(test.folder, test.mount); got != test.want {
			t.Errorf("within(%q, %q) is %t", test.folder, test.mount, got)
		}
	}
}

func TestCounterSeesLinesInPieces(t *testing.T) {
	t.Parallel()
	c := &counter{start: []byte("+ a")}
	for _, piece := range []string{"+", " abc\n+ b\n", "+ a", "\n\n", "- + a\n+ a without an end"} {
		if n, err := c.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatalf("wrote %d of %d: %v", n, len(piece), err)
		}
	}
	if c.lines != 2 {
		t.Errorf("counted %d lines, want 2", c.lines)
	}
}

func TestPrintPeak(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := printPeak(t.Context(), &out, []string{"go", "version"}); err != nil {
		t.Fatal(err)
	}
	var resident, own int64
	if _, err := fmt.Sscan(out.String(), &resident, &own); err != nil || resident < 1<<20 || own > resident {
		t.Errorf("a peak of %d bytes, own %d, %v", resident, own, err)
	}
}
