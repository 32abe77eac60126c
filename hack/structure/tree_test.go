package main

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestReadTreeMeasures(t *testing.T) {
	t.Parallel()
	tree, err := readTree(fstest.MapFS{
		"internal/a/low.go":    {Data: []byte("package a\n\n// Low says whether it is low.\nfunc Low() bool { return high() }\n")},
		"internal/a/high.go":   {Data: []byte("package a\n\ntype top struct{}\n\nfunc (t top) run() bool { return Low() }\n\nfunc high() bool { return top{}.run() }\n")},
		"internal/a/a_test.go": {Data: []byte("package a\n\nfunc TestLow_P13_low() {}\n\nfunc TestHigh() {}\n")},
		"docs/a.md":            {Data: []byte("Ask whoever is here\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := tree.packages["internal/a"]
	if p == nil || len(tree.packages) != 1 {
		t.Fatalf("packages: %v", tree.packages)
	}
	if against, all := p.upward(); against != 1 || all != 2 {
		t.Errorf("%d of %d dependencies point upward", against, all)
	}
	got := []int{p.lines, p.methods["top"], len(p.functions), tree.testNames, tree.codedTests, tree.commentHits, tree.commentLines, tree.docHits, tree.docWords}
	if diff := cmp.Diff([]int{11, 1, 3, 2, 1, 1, 1, 1, 4}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
