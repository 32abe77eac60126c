package gitea_test

import (
	"fmt"
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

// A label of a timeline is an object. Pages have at most 50 entries, whatever their
// headers report.
func TestHeadDeleted_labeledPullRequestWithALongTimeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.repo.Label("ann", pull.Number, "staging")
	for i := range 60 {
		w.repo.Pulls.Comment("ann", pull.Number, fmt.Sprint("word ", i))
	}
	w.repo.Git.DeleteBranch("ann", head)
	if at := deletedAt(t, repo, pull.Number); at.IsZero() {
		t.Error("the deletion on the second page was not read")
	}
	if closed := closedOf(t, repo, head); closed[0].Closer.Login != "ann" {
		t.Errorf("closed: %+v", closed)
	}
	w.repo.Pulls.Reopen("bob", pull.Number)
	if at := deletedAt(t, repo, pull.Number); !at.IsZero() {
		t.Errorf("opened again: %s", at)
	}
}

// A timeline that cannot be read leaves unknown who closed the pull request. The list
// is complete, and the timeline is read again later.
func TestClosed_timelineOfAnotherForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.repo.Label("ann", pull.Number, "staging")
	w.repo.Pulls.Close("ann", pull.Number)
	w.Garble("/timeline", `[{"id":1,"type":{"name":"close"}}]`)
	closed := closedOf(t, repo, head)
	if len(closed) != 1 || closed[0].Closer.Login != "" || closed[0].Head.Message == "" {
		t.Fatalf("closed: %+v", closed)
	}
	want(t, "the closer", closed[0].Unread, fault.Invalid, "timeline of pull request 1", "another form")
	w.Garble("/timeline", `{"entries":[]}`)
	_, err := repo.(scm.Deletions).HeadDeleted(t.Context(), pull.Number)
	want(t, "the deletion", err, fault.Invalid, "timeline of pull request 1")
	if closed := closedOf(t, repo, head); closed[0].Closer.Login != "ann" || closed[0].Unread != nil {
		t.Errorf("later: %+v", closed)
	}
}
