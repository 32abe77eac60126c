package updater_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"promoter/internal/edit"
)

// FuzzShapes rewrites any input next to a file with chart sources. Nothing may
// panic, the changes alone must transform the old bytes into the new ones, and
// applying them must be idempotent.
func FuzzShapes(f *testing.F) {
	seeds, err := filepath.Glob(filepath.Join(goldenDir, "*", "before", "*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range seeds {
		if data, err := os.ReadFile(seed); err == nil {
			f.Add(data)
		}
	}
	f.Add([]byte(release("1.0.0", fluxSystem)))
	f.Add([]byte(argoSource("repoURL: quay.io/acme/charts\nchart: web\ntargetRevision: 1.0.0")))
	f.Fuzz(func(t *testing.T, data []byte) {
		wanted := acme("")
		files := tree{"file.yaml": {data: data}, "sources.yaml": {data: []byte(acmeCharts)}}
		got, result := rewriteTree(t, wanted, files)
		if applied := apply(data, result.Changes); applied != string(got["file.yaml"].data) {
			t.Errorf("the changes lead to\n%q, the bytes are\n%q", applied, got["file.yaml"].data)
		}
		again, _ := rewriteTree(t, wanted, got)
		if string(again["file.yaml"].data) != string(got["file.yaml"].data) {
			t.Errorf("applying twice is not applying once:\n%q\n%q", got["file.yaml"].data, again["file.yaml"].data)
		}
	})
}

// apply applies the changes by their positions, from back to front.
func apply(data []byte, changes []edit.Change) string {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b edit.Change) int {
		return cmp.Or(cmp.Compare(b.Line, a.Line), cmp.Compare(b.Column, a.Column))
	})
	text := string(data)
	for _, change := range changes {
		rest := textAt([]byte(text), change.Line, change.Column)
		text = strings.TrimSuffix(text, rest) + change.To + strings.TrimPrefix(rest, change.From)
	}
	return text
}
