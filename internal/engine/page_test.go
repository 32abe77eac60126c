package engine_test

import (
	"context"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// comparing is a forge that compares, or fails to.
type comparing struct{ err error }

func (c *comparing) Compare(context.Context, string, string, string, int) (scm.Comparison, error) {
	return scm.Comparison{Commits: []scm.Commit{{ID: "abc", Message: "Make it faster"}}, Total: 1}, c.err
}

// A pull request keeps its text while a part of it cannot be read.
func TestReconcile_keepsTextWhileAPartIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(threeEnvironments, "web: {", "web: {source: forge.example/acme/web, ", 1))
	w.push(web, "1.1.0")
	compare := &comparing{}
	run := func() {
		reconciler := w.Reconciler()
		reconciler.Compare = compare
		if report, err := reconciler.Reconcile(t.Context()); err != nil || report.Failed() {
			t.Fatalf("%v, %v", err, report)
		}
	}
	run()
	before := w.pull(1).Body
	if !strings.Contains(before, "Make it faster") {
		t.Fatalf("the commits are not shown:\n%s", before)
	}
	compare.err = fault.New(fault.Temporary, "try again")
	run()
	if w.pull(1).Body != before {
		t.Error("the commits were taken out")
	}
	compare.err = fault.New(fault.NotFound, "there is no such commit")
	run()
	if w.pull(1).Body == before {
		t.Error("commits that are gone are still shown")
	}
}
