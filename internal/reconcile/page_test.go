package reconcile_test

import (
	"context"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/verb"
)

// comparing is a forge that compares, or fails to.
type comparing struct {
	err    error
	unread string
}

func (c *comparing) Change(context.Context, scm.ChangeQuery) (scm.Change, error) {
	if c.err != nil {
		return scm.Change{Unread: "it is not there"}, c.err
	}
	return scm.Change{Comparison: scm.Comparison{Commits: []scm.Commit{{ID: "abc", Message: "Make it faster"}}, Total: 1}, Unread: c.unread}, nil
}

// A pull request keeps its text while a part of it cannot be read.
func TestReconcile_keepsTextWhileAPartIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(threeEnvironments, "web: {", "web: {source: forge.example/acme/web, ", 1))
	w.push(web, "1.1.0")
	compare := &comparing{}
	run := func() {
		reconciler := w.Reconciler()
		reconciler.Describe.Sources = compare
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
		t.Errorf("the commits were taken out:\n%s", w.pull(1).Body)
	}
	compare.err, compare.unread = nil, "there is no such commit"
	run()
	if w.pull(1).Body == before {
		t.Error("commits that are gone are still shown")
	}
}

// A pull request names the commands that have an effect, and the users whom permissions
// restrict them to.
func TestReconcile_showsCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asking())
	w.Permissions.Only[verb.Promote] = []string{"team:acme/sre"}
	w.pushAndRun(web, "1.1.0")
	request := "| after the merge: request the promotion to `prod` | `/promoter promote prod` | `team:acme/sre` |"
	if body := w.pull(1).Body; !strings.Contains(body, request) || !strings.Contains(body, "| `/promoter hold` | users with write access |") {
		t.Errorf("the commands are missing:\n%s", body)
	}
	w.Forge.Limits.Comments = false
	w.run()
	if body := w.pull(1).Body; strings.Contains(body, "/promoter") {
		t.Errorf("commands that are not read:\n%s", body)
	}
}
