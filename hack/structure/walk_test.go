package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestWalk(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"internal/layers/table_test.go": {Data: []byte("package layers\n\nvar table = map[string]position{\n\t\"internal/low\": {layer: 1}, \"internal/high\": {layer: 3, support: true},\n}\n")},
		"internal/high/run.go":          {Data: []byte("package high\n\nfunc Run() {}\n\nfunc (t *T) step() {}\n")},
		"internal/low/a.go":             {Data: []byte("package low\n\nfunc Read() {}\n")},
		"internal/low/b.go":             {Data: []byte("package low\n\nfunc Write() {}\n")},
	}
	const begin = "# Architecture\n\n`other.go` is no step.\n\n## The life of one work item\n\nIt is a `file.go`.\n\n"
	tests := []struct{ name, section, want string }{
		{"a way down", "1. `internal/high/run.go`: `Run`\n2. it goes on in\n   `internal/high/run.go`, `T.step`, with `Run`\n3. `internal/low/a.go` `Read()`\n\n## Next\n\n1. `internal/none.go`\n", "3 steps in 2 files, 0 climbs, 0 returns\n"},
		{"a table", "| what | file | function |\n|---|---|---|\n| a `word` | `internal/low/a.go` | `Read` |\n| b | `internal/high/run.go` | `Run` |\n| c | `internal/low/b.go` | `Write` |\n| d | `internal/low/a.go` | `Read` |\n", "4 steps in 3 files, 1 climbs, 1 returns\n    step 2: from layer 1 to internal/high/run.go in layer 3\n    step 4: back to internal/low/a.go\n"},
		{"a function that is gone", "1. `internal/low/a.go` `Write`\n", "doc.md: internal/low/a.go has no function Write"},
		{"a file without a function", "1. `internal/low/a.go`\n2. `internal/low/b.go` `Write`\n", "doc.md: internal/low/a.go is named without a function"},
		{"no list", "", "doc.md: no section \"The life of one work item\" with a list of `FILE` and `FUNCTION`"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := fstest.MapFS{"doc.md": {Data: []byte(begin + test.section)}}
			for name, file := range files {
				root[name] = file
			}
			var out strings.Builder
			if err := walk(&out, root, "doc.md"); err != nil {
				out.WriteString(err.Error())
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpwardBelow_countsPackagesOfAFolder(t *testing.T) {
	t.Parallel()
	low := "package a\n\nfunc Low() bool { return high() }\n"
	high := "package a\n\nfunc high() bool { return Low() }\n"
	tree, err := readTree(fstest.MapFS{
		"internal/a/low.go": {Data: []byte(low)}, "internal/a/high.go": {Data: []byte(high)},
		"internal/a/b/low.go": {Data: []byte(low)}, "internal/ab/low.go": {Data: []byte(low)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := tree.upwardBelow("internal/a", "internal/none"); got != "1 of 2: internal/a 1 of 2; internal/a/b 0 of 0" {
		t.Error(got)
	}
}
