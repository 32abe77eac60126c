package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const passing = `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.002s\n"}
{"Action":"pass","Package":"p","Elapsed":0.002}
`

const skipping = `{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:6: no corpus: PROMOTER_CORPUS is not set\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB","Elapsed":0}
`

const failing = `{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:9: broken\n"}
{"Action":"output","Package":"p","Test":"TestC","Output":"--- FAIL: TestC (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestC","Elapsed":0}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.002s\n"}
{"Action":"fail","Package":"p","Elapsed":0.002}
`

const notBuilding = `{"ImportPath":"p","Action":"build-output","Output":"./x.go:3: undefined: y\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p"}
`

func TestRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in          string
		allow             []string
		noSkips           bool
		wantOut, wantFail string
	}{
		{"a package that passes prints its closing line", passing, nil, true, "ok  \tp\t0.002s\n", ""},
		{
			"a skip is told with its reason", passing + skipping, nil, false,
			"ok  \tp\t0.002s\nskipped: p TestB: b_test.go:6: no corpus: PROMOTER_CORPUS is not set\n", "",
		},
		{
			"a skip in CI is an error", passing + skipping, nil, true,
			"ok  \tp\t0.002s\nSKIPPED, but must run here: p TestB: b_test.go:6: no corpus: PROMOTER_CORPUS is not set\n",
			"1 tests were skipped that must run here",
		},
		{
			"an allowed skip in CI", passing + skipping,
			[]string{"other", "PROMOTER_CORPUS"},
			true,
			"ok  \tp\t0.002s\nskipped: p TestB: b_test.go:6: no corpus: PROMOTER_CORPUS is not set\n", "",
		},
		{
			"a failure shows its output", failing, nil, true,
			"    c_test.go:9: broken\n--- FAIL: TestC (0.00s)\nFAIL\tp\t0.002s\n", "2 packages or tests failed",
		},
		{
			"a package that does not build shows why", notBuilding, nil, true,
			"./x.go:3: undefined: y\nFAIL\tp [build failed]\n", "2 packages or tests failed",
		},
		{"nothing ran", "go: no such tool\n", nil, true, "go: no such tool\n", "no test output: nothing ran"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			err := run(strings.NewReader(test.in), &out, test.noSkips, test.allow)
			if diff := cmp.Diff(test.wantOut, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.wantFail, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
