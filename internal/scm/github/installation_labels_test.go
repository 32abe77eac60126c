package github_test

import (
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// With write access to pull requests, GitHub allows adding existing labels to them,
// but not creating labels.
func TestInstalled_newLabelsNeedAPermission(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	w.of.Ask(without(granted(), "issues"))
	repository := w.NewRepository("acme/gitops", nil)
	repository.Git.Commit("ann", "topic", "Change", map[string]string{"a.yaml": "a: 2\n"})
	number := repository.Pulls.Open("ann", "topic", "main", "Change")
	repository.Pulls.Label(number, "known")
	opened, err := use(t, w.app, w.of.Install("acme")).Open(t.Context(), "acme/gitops")
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.PullRequests().Edit(t.Context(), number, scm.Edit{AddLabels: []string{"known"}}); err != nil {
		t.Errorf("a label that is there: %v", err)
	}
	err = opened.PullRequests().Edit(t.Context(), number, scm.Edit{AddLabels: []string{"new"}})
	if words := "make these labels in the repository, or add the permission issues=write"; fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), words) {
		t.Errorf("a new label: %v, want %q", err, words)
	}
}
