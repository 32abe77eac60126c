package forgetest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/git/gittest"
	"promoter/internal/scm"
	"promoter/internal/scm/forgetest"
)

// newHub returns a forge that closes a pull request without its branch, and merges by
// merge commits.
func newHub(t *testing.T) *forgetest.Hub {
	t.Helper()
	now := time.Unix(1_700_000_000, 0)
	return forgetest.NewHub(t, forgetest.Fake{Name: "shop", Now: func() time.Time { return now }}, forgetest.Kind{
		Precision: time.Second, EmailHost: "example.com", HeadRef: "refs/pull/%d/head",
		Repository: func(*forgetest.Repository) {}, Pull: func(*forgetest.Pull) {}, Draft: func(*forgetest.Pull) bool { return false },
		Follow: func(p *forgetest.Pull, push forgetest.Push) {
			if p.IsOpen() && push.To == p.From && push.Now[p.Head] == "" {
				p.Close(push.By)
			}
		},
		Merge: func(p *forgetest.Pull, by *forgetest.User, _ string) (string, bool) {
			commit, clean := p.Repo.Bare.MergeCommit(gittest.Landing{
				Base: p.Repo.Bare.Head(p.Base), Head: p.HeadCommit, Message: "Merge", By: p.Repo.Hub.Author(by), Committer: p.Repo.Hub.Author(by),
			})
			p.Landed(by, commit)
			return commit, clean
		},
		OnMerge: []string{forgetest.Merged},
	}, http.NotFoundHandler())
}

func TestHub_pullRequests(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	r := h.NewRepository("acme/web", map[string]string{"a": "1\n"})
	git, pulls, settings := r.Branches(), r.PullRequests(), r.Settings()
	settings.Permit("ann", "write")
	settings.DeleteMergedBranches()
	git.Commit("ann", "x", "X", map[string]string{"a": "2\n"})
	first, forked := pulls.Open("ann", "x", "main", "X"), pulls.Fork("eve", "y", "main", "Y")
	pulls.Approve("ann", forked)
	pulls.Review("eve", forked, scm.ChangesRequested)
	votes := r.Pulls[forked].Votes()
	if len(votes) != 1 || votes["ann"].State != scm.Approved {
		t.Errorf("votes: %v", votes)
	}
	if pulls.Dismiss("ann", forked); len(r.Pulls[forked].Votes()) != 0 {
		t.Error("a dismissed review counts")
	}
	commit := pulls.Merge("bob", first, "merge")
	if one := pulls.Get(first); !one.Merged || one.Open || one.Closer != "bob" || one.MergeCommit != commit || git.Head("main") != commit || git.Head("x") != "" {
		t.Errorf("merged: %+v", one)
	}
	h.Find("eve/web").Branches().DeleteBranch("eve", "y")
	if one := pulls.Get(forked); one.Open || one.Merged || one.Closer != "eve" {
		t.Errorf("closed: %+v", one)
	}
	if pulls.Reopen("ann", forked); !pulls.Get(forked).Open || h.Find("eve/web").Branches().Head("y") == "" {
		t.Error("not reopened with its branch")
	}
}

func TestHub_comments(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	r := h.NewRepository("acme/web", map[string]string{"a": "1\n"})
	pulls := r.PullRequests()
	r.Branches().Commit("ann", "x", "X", map[string]string{"a": "2\n"})
	number := pulls.Open("ann", "x", "main", "X")
	first := pulls.Comment("bob", number, "one")
	second := pulls.Comment("bob", number, "two")
	pulls.Ask("eve", "an issue")
	pulls.Reword(first, "ONE")
	pulls.DeleteComment(second)
	r.Comment(first).React(h.User("ann"), "+1")
	if _, added := r.Comment(first).React(h.User("ann"), "+1"); added {
		t.Error("the same reaction twice")
	}
	if diff := cmp.Diff([]forgetest.CommentState{{Author: "bob", Body: "ONE"}}, pulls.Get(number).Comments); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"+1 ann"}, pulls.Reactions(first)); diff != "" {
		t.Error(diff)
	}
	if n := len(r.Comments()); n != 2 {
		t.Errorf("%d comments in the repository", n)
	}
}

func TestHub_permissionsAndNames(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	r := h.NewRepository("acme/web", nil)
	settings := r.Settings()
	settings.Permit("ann", "write")
	ann, eve := h.User("Ann"), h.User("eve")
	if !r.MayPush(ann) || r.Administers(ann) || r.Permission(eve) != "none" || !r.Administers(h.User("acme")) {
		t.Error("permissions of a private repository")
	}
	if settings.SetPrivate(false); r.Permission(eve) != "read" || r.Member(eve) != "none" || r.MayPush(eve) {
		t.Error("permissions of a public repository")
	}
	settings.Rename("moved")
	if h.Find("acme/web") != r || h.Find("Acme/Moved") != r || r.IsNamed("acme/web") || settings.Name() != "acme/moved" {
		t.Errorf("renamed to %s", settings.Name())
	}
	settings.SetStatus("ci", "c", "e2e", "pending")
	settings.SetStatus("ci", "c", "e2e", "success")
	if got := settings.Statuses("c")["e2e"]; got.State != "success" || got.By != "ci" {
		t.Errorf("status %+v", got)
	}
}
