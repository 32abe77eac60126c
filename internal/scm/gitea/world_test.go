package gitea_test

import (
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// head is a branch with a name as promoter creates it.
const head = "promoter/prod/web"

// propose pushes to the branch and opens a pull request.
func (w *world) propose(t *testing.T, repo scm.Repository) scm.PullRequest {
	t.Helper()
	w.push(t, "image: web:2\n")
	made, err := repo.PullRequests().Create(t.Context(), scm.Draft{Head: head, Base: "main", Title: "Promote web", Body: "from 1 to 2"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// push pushes a commit of our own to the branch.
func (w *world) push(t *testing.T, content string) string {
	t.Helper()
	return w.repo.Git.Commit(self, head, "Promote web\n\nPromoter-Environment: prod", map[string]string{"a.yaml": content})
}

func merge(t *testing.T, repo scm.Repository, pull scm.PullRequest) (scm.Merged, error) {
	t.Helper()
	return repo.PullRequests().Merge(t.Context(), pull.Number, scm.Merge{
		Head: pull.Head.Commit, Base: pull.Base, Title: "Promote web to prod", Message: "Promoter-Environment: prod",
	})
}

// want checks the kind of an error and substrings of its message.
func want(t *testing.T, what string, err error, kind fault.Kind, words ...string) {
	t.Helper()
	if got := fault.KindOf(err); got != kind {
		t.Errorf("%s: %v is %q, want %q", what, err, got, kind)
	}
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q in it", what, err, word)
		}
	}
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// requests counts all requests but those of Git.
func (w *world) requests() (n int) {
	for route, count := range w.Traffic.Requests() {
		if !strings.HasPrefix(route, "GIT ") {
			n += count
		}
	}
	return n
}
