package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/hack/reasons"
)

const header = `{"config": {"scan_level": "symbol"}}
{"SBOM": {"go_version": "go1.26.11"}}
`

// finding is what govulncheck prints about a symbol, or about a package or a module without it.
func finding(id, fixed, at string) string {
	return `{"finding": {"osv": "` + id + `", "fixed_version": "` + fixed + `", "trace": [{"module": "example.com/m", "version": "v1.0.0"` + at + `}]}}
`
}

const symbol = `, "package": "example.com/m", "function": "F"`

func TestReadScan_countsOnlySymbols(t *testing.T) {
	t.Parallel()
	text := header + `{"progress": {"message": "Scanning"}}
{"osv": {"id": "GO-2026-1", "summary": "It panics"}}
` + finding("GO-2026-1", "v1.0.1", "") + finding("GO-2026-1", "v1.0.1", symbol) +
		finding("GO-2026-1", "v1.0.1", strings.Replace(symbol, `"F"`, `"G"`, 1)) +
		finding("GO-2026-2", "", `, "package": "example.com/m"`)
	found, err := readScan(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []vulnerability{{id: "GO-2026-1", summary: "It panics", module: "example.com/m", version: "v1.0.0", fixed: "v1.0.1"}}
	if diff := cmp.Diff(want, found.vulnerabilities, cmp.AllowUnexported(vulnerability{})); diff != "" {
		t.Error(diff)
	}
}

// A scan that cannot find symbols finds nothing, which is no proof.
func TestReadScan_refusesWhatProvesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "{", header[:strings.Index(header, "\n")],
		strings.Replace(header, "symbol", "module", 1), strings.Replace(header, `"symbol"`, `""`, 1),
	} {
		if _, err := readScan(strings.NewReader(text)); err == nil {
			t.Errorf("%q is a scan", text)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	fixable := vulnerability{id: "GO-1", summary: "It panics", module: "example.com/m", version: "v1.0.0", fixed: "v1.0.1"}
	open := vulnerability{id: "GO-2", summary: "It leaks", module: "example.com/n", version: "v1.0.0"}
	tests := []struct {
		name     string
		found    []vulnerability
		accepted map[string]string
		want     string
	}{
		{"nothing", nil, nil, ""},
		{"with a fix", []vulnerability{fixable}, nil, "GO-1: It panics in example.com/m@v1.0.0: update it to v1.0.1 or newer"},
		{"with a fix, accepted", []vulnerability{fixable}, map[string]string{"GO-1": "unused"}, "update it to v1.0.1"},
		{"without a fix", []vulnerability{open}, nil, "GO-2: It leaks in example.com/n@v1.0.0, without a fix"},
		{"without a fix, accepted", []vulnerability{open}, map[string]string{"GO-2": "unused"}, ""},
		{"an entry that is not needed", nil, map[string]string{"GO-2": "unused"}, "GO-2 is not in the program"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			err := judge(&out, test.found, test.accepted)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestReadAccepted_needsReasons(t *testing.T) {
	t.Parallel()
	accepted, err := reasons.Read(acceptedFile, "# a comment\n\nGO-1\n Why it\n does not apply.\n")
	if diff := cmp.Diff(map[string]string{"GO-1": "Why it does not apply."}, accepted); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, wrong := range []string{"GO-1\n", "GO-1\n a\nGO-1\n b\n", " a reason\n"} {
		if _, err := reasons.Read(acceptedFile, wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
	if _, err := reasons.Read(acceptedFile, acceptedText); err != nil {
		t.Error(err)
	}
}
