package gitea_test

import (
	"strings"
	"testing"

	"promoter/internal/fault"
)

// For a commit that is not there Gitea has an accident. It is looked for then.
func TestCompare_T09_missingCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	from, none := w.repo.Head("main"), strings.Repeat("0123456789", 4)
	_, err := w.forge.Compare(t.Context(), "acme/deploy", from, none, 5)
	want(t, "to", err, fault.NotFound, "no commit 012345678901")
	_, err = w.forge.Compare(t.Context(), "acme/deploy", none, from, 5)
	want(t, "from", err, fault.NotFound)
	w.Fail("/compare/", 500, "accident")
	_, err = w.forge.Compare(t.Context(), "acme/deploy", from, from, 5)
	want(t, "another accident", err, fault.Temporary, "accident")
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
