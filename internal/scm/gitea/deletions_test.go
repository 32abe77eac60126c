package gitea_test

import (
	"net/http"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea/giteatest"
)

func deletedAt(t *testing.T, repo scm.Repository, number int) time.Time {
	t.Helper()
	at, err := repo.(scm.Deletions).HeadDeleted(t.Context(), number)
	must(t, "deleted", err)
	return at
}

// Deleting a branch, which closes its pull request, is distinguished from deleting
// the branch after closing the pull request.
func TestHeadDeleted_readsTheTimeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, giteatest.Options{MaxItems: 2})
	repo := w.open(t)
	pull := w.propose(t, repo)
	if at := deletedAt(t, repo, pull.Number); !at.IsZero() {
		t.Errorf("an open one: %s", at)
	}
	w.repo.Git.DeleteBranch("ann", head)
	if at, closed := deletedAt(t, repo, pull.Number), closedOf(t, repo, head)[0].ClosedAt; at.Before(closed) || at.After(closed.Add(time.Second)) {
		t.Errorf("closed %s, deleted %s", closed, at)
	}
	w.repo.Pulls.Reopen("ann", pull.Number)
	if at := deletedAt(t, repo, pull.Number); !at.IsZero() {
		t.Errorf("opened again: %s", at)
	}
	w.repo.Pulls.Close("ann", pull.Number)
	for range 3 {
		w.repo.Pulls.Comment("ann", pull.Number, "not this one")
	}
	w.repo.TidyUp("ann", pull.Number)
	if at, closed := deletedAt(t, repo, pull.Number), closedOf(t, repo, head)[0].ClosedAt; !at.After(closed.Add(time.Second)) {
		t.Errorf("closed %s, tidied up %s", closed, at)
	}
	w.Fail("/timeline", http.StatusBadGateway, "")
	_, err := repo.(scm.Deletions).HeadDeleted(t.Context(), pull.Number)
	want(t, "an accident", err, fault.Temporary, "timeline")
}
