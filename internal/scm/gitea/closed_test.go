package gitea_test

import (
	"fmt"
	"testing"

	"promoter/internal/scm"
	"promoter/internal/scm/gitea/giteatest"
)

func closedOf(t *testing.T, repo scm.Repository, branch string) []scm.PullRequest {
	t.Helper()
	all, err := repo.PullRequests().Closed(t.Context(), branch, 5)
	must(t, "closed", err)
	return all
}

// A closed pull request keeps its head, although Gitea returns the current commit of
// the branch: a rejection applies to the commit that was closed.
func TestClosed_headOfAnOldOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	first := w.propose(t, repo)
	w.repo.Pulls.Close("ann", first.Number)
	second := w.propose(t, repo)
	if first.Head.Commit == second.Head.Commit {
		t.Fatal("the branch did not move")
	}
	closed := closedOf(t, repo, head)
	if len(closed) != 1 || closed[0].Head.Commit != first.Head.Commit || closed[0].Closer.Login != "ann" {
		t.Errorf("closed: %+v", closed)
	}
}

// The closer is read from the timeline, even after many comments and a second close.
func TestClosed_lastCloser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, giteatest.Options{MaxItems: 5})
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.repo.Pulls.Close("ann", pull.Number)
	if closed := closedOf(t, repo, head); closed[0].Closer.Login != "ann" {
		t.Errorf("closed: %+v", closed)
	}
	w.repo.Pulls.Reopen("bob", pull.Number)
	w.repo.Pulls.Close("bob", pull.Number)
	for i := range 12 {
		w.repo.Pulls.Comment("eve", pull.Number, fmt.Sprint("why? ", i))
	}
	if closed := closedOf(t, repo, head); closed[0].Closer.Login != "bob" {
		t.Errorf("closed: %+v", closed)
	}
}

// The list of all closed pull requests is read once, also for later reconciliations.
// While none is closed or opened, a query for any branch is one request.
func TestClosed_asksOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, giteatest.Options{MaxItems: 10})
	repo := w.open(t)
	for i := range 25 {
		branch := fmt.Sprintf("promoter/prod/app-%d", i)
		w.repo.Git.Commit(self, branch, "Promote", map[string]string{"x.yaml": branch})
		w.repo.Pulls.Close("ann", w.repo.Pulls.Open(self, branch, "main", branch))
	}
	if closed := closedOf(t, repo, "promoter/prod/app-0"); len(closed) != 1 {
		t.Fatalf("closed: %+v", closed)
	}
	w.Traffic.ResetRequests()
	for range 3 {
		if closed := closedOf(t, w.open(t), "promoter/prod/app-0"); len(closed) != 1 || closed[0].Closer.Login != "ann" {
			t.Fatalf("closed: %+v", closed)
		}
		if closed := closedOf(t, repo, "promoter/prod/none"); len(closed) != 0 {
			t.Fatalf("closed: %+v", closed)
		}
	}
	got := w.Traffic.Requests()
	if got["GET /repos/{owner}/{repo}/pulls"] != 6 || w.requests() != 9 {
		t.Errorf("requests: %v", got)
	}
	pull := w.propose(t, repo)
	w.repo.Pulls.Close("bob", pull.Number)
	if closed := closedOf(t, repo, head); len(closed) != 1 || closed[0].Closer.Login != "bob" {
		t.Errorf("a new one: %+v", closed)
	}
	w.repo.Pulls.Reopen("bob", pull.Number)
	if closed := closedOf(t, repo, head); len(closed) != 0 {
		t.Errorf("after it was opened again: %+v", closed)
	}
}

// A pull request whose commit no longer exists has no message.
func TestClosed_commitIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.repo.Git.DeleteBranch("ann", head)
	w.repo.Git.Run("update-ref", "-d", fmt.Sprintf("refs/pull/%d/head", pull.Number))
	closed := closedOf(t, repo, head)
	if len(closed) != 1 || closed[0].Head.Commit != pull.Head.Commit {
		t.Errorf("closed: %+v", closed)
	}
}

// A declined pull request older than all scanned ones is still found, and looked up
// once as long as no pull request is closed.
func TestClosed_behindAllThatAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, giteatest.Options{MaxItems: 1})
	repo := w.open(t)
	declined := w.propose(t, repo)
	w.repo.Pulls.Close("ann", declined.Number)
	many := func(n int) {
		for i := range n {
			branch := fmt.Sprintf("promoter/prod/app-%d", i)
			w.repo.Git.Commit(self, branch, "Promote", map[string]string{"x.yaml": branch})
			w.repo.Pulls.Close("bob", w.repo.Pulls.Open(self, branch, "main", branch))
		}
	}
	const question = "GET /repos/{owner}/{repo}/pulls/{base}/{head...}"
	many(19)
	if closed := closedOf(t, repo, head); len(closed) != 1 || w.Traffic.Requests()[question] != 0 {
		t.Fatalf("as the last one that is listed: %+v, %v", closed, w.Traffic.Requests())
	}
	many(2)
	for range 2 {
		closed := closedOf(t, repo, head)
		if len(closed) != 1 || closed[0].Number != declined.Number || closed[0].Closer.Login != "ann" || closed[0].Head.Commit != declined.Head.Commit {
			t.Fatalf("closed: %+v", closed)
		}
		if none := closedOf(t, repo, "promoter/none"); len(none) != 0 {
			t.Fatalf("of another branch: %+v", none)
		}
	}
	if n := w.Traffic.Requests()[question]; n != 2 {
		t.Errorf("%d questions, want one for each branch", n)
	}
	w.repo.Pulls.Reopen("ann", declined.Number)
	if open := closedOf(t, repo, head); len(open) != 0 {
		t.Errorf("an open one is listed: %+v", open)
	}
}

// A closed pull request can be reopened while another one of the same branch is open.
func TestOpen_twoOfOneBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	first := w.propose(t, repo)
	w.repo.Pulls.Close("ann", first.Number)
	second := w.propose(t, repo)
	w.repo.Pulls.Reopen("ann", first.Number)
	all, err := repo.PullRequests().Open(t.Context())
	if err != nil || len(all) != 2 || all[0].Number != first.Number || all[1].Number != second.Number {
		t.Errorf("open: %+v, %v", all, err)
	}
}
