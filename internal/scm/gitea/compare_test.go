package gitea_test

import (
	"strings"
	"testing"

	"promoter/internal/fault"
)

// For a commit that does not exist, Gitea returns 404, and older versions a 5xx error.
// The commit is then looked up.
func TestCompare_missingCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	from, none := w.repo.Git.Head("main"), strings.Repeat("0123456789", 4)
	_, err := w.forge.Compare(t.Context(), "acme/deploy", from, none, 5)
	want(t, "to", err, fault.NotFound, "404: not found")
	w.Fail("/compare/", 500, "exit status 128 - fatal: bad object")
	_, err = w.forge.Compare(t.Context(), "acme/deploy", from, none, 5)
	want(t, "to, of an older version", err, fault.NotFound, "no commit 012345678901")
	_, err = w.forge.Compare(t.Context(), "acme/deploy", none, from, 5)
	want(t, "from", err, fault.NotFound)
	w.Fail("/compare/", 500, "accident")
	_, err = w.forge.Compare(t.Context(), "acme/deploy", from, from, 5)
	want(t, "another accident", err, fault.Temporary, "accident")
}

// Revisions are part of a web URL, and tags may contain almost any character.
func TestCompare_addressOfThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.Git.Commit("ann", `feature/"x%`, "Next", map[string]string{"b.yaml": "b: 1\n"})
	found, err := w.forge.Compare(t.Context(), "acme/deploy", "main", `feature/"x%`, 5)
	must(t, "compare", err)
	if want := w.URL() + "/acme/deploy/compare/main...feature/%22x%25"; found.URL != want || found.Total != 1 {
		t.Errorf("got %+v, want the page %s", found, want)
	}
}

func TestCompare_refusesOddRevisions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, revision := range []string{"", "a..b", "eve:main", strings.Repeat("a", 256), "a b"} {
		_, err := w.forge.Compare(t.Context(), "acme/deploy", "main", revision, 5)
		want(t, revision, err, fault.Invalid)
	}
	if n := w.requests(); n != 0 {
		t.Errorf("%d requests", n)
	}
}
