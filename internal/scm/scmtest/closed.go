package scmtest

import (
	"strings"
	"testing"

	"promoter/internal/identity"
	"promoter/internal/scm"
)

// methods lists the ways in which users merge.
var methods = []string{"merge", "squash", "rebase", "fast-forward", "queue"}

// closed tests PullRequests.Closed.
func closed() []condition {
	cases := []condition{
		{
			name: "a user's closing is distinguished from ours", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.People.Close} },
			run: func(t *testing.T, x *fixture) {
				first := x.propose(t)
				x.People.Close(t, Ann, first.Number)
				second, err := x.repo.PullRequests().Create(t.Context(), draft())
				fatal(t, "create", err)
				yes := true
				fatal(t, "close", x.repo.PullRequests().Edit(t.Context(), second.Number, scm.Edit{Closed: &yes}))
				ended := x.ended(t, 5)
				if len(ended) != 2 || ended[0].Number != second.Number || ended[1].Number != first.Number {
					t.Fatalf("closed: %+v, want the newest first", ended)
				}
				x.wantClosed(t, ended[0], x.repo.Info().Self)
				x.wantClosed(t, ended[1], x.person(Ann))
			},
			without: func(t *testing.T, x *fixture) {
				if ended := x.ended(t, 5); len(ended) != 0 {
					t.Errorf("closed: %v", ended)
				}
			},
		},
		{
			name: "a deleted branch closes, and what it held is still told", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.Git.Delete} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.Git.Delete(t, Ann, branch)
				x.none(t)
				ended := x.ended(t, 5)
				if len(ended) != 1 || ended[0].Number != made.Number || ended[0].Head.Commit != made.Head.Commit {
					t.Fatalf("closed: %+v", ended)
				}
				x.wantClosed(t, ended[0], x.person(Ann))
			},
		},
		{
			name: "Closed lists at most the limit, of this branch only", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				yes, last := true, 0
				for range 3 {
					x.push(t, strings.Repeat("#", last+1)+"\n")
					made, err := x.repo.PullRequests().Create(t.Context(), draft())
					fatal(t, "create", err)
					fatal(t, "close", x.repo.PullRequests().Edit(t.Context(), made.Number, scm.Edit{Closed: &yes}))
					last = made.Number
				}
				if ended := x.ended(t, 2); len(ended) != 2 || ended[0].Number != last {
					t.Errorf("closed: %+v", ended)
				}
				other, err := x.repo.PullRequests().Closed(t.Context(), "promoter/prod/we", 5)
				if err != nil || len(other) != 0 {
					t.Errorf("of another branch: %+v, %v", other, err)
				}
			},
		},
	}
	for _, method := range methods {
		cases = append(cases, condition{
			name: "merged by hand: " + method, feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.People.Merge} },
			run:   func(t *testing.T, x *fixture) { x.mergedByHand(t, method) },
		})
	}
	return cases
}

// wantClosed checks the fields of a closed pull request.
func (x *fixture) wantClosed(t *testing.T, pull scm.PullRequest, closer identity.User) {
	t.Helper()
	if pull.State != scm.StateClosed || pull.ClosedAt.IsZero() || !pull.Head.Own || pull.Head.Branch != branch || pull.Merged != (scm.Merged{}) {
		t.Errorf("closed: %+v", pull)
	}
	if !strings.Contains(pull.Head.Message, "Promoter-Environment: prod") {
		t.Errorf("its head says %q", pull.Head.Message)
	}
	if x.repo.Features().Closers && !pull.Closer.Same(closer) {
		t.Errorf("closed by %+v, want %+v", pull.Closer, closer)
	}
}

func (x *fixture) mergedByHand(t *testing.T, method string) {
	made := x.propose(t)
	if method != "fast-forward" {
		x.Git.Commit(t, Commit{By: Bob, Branch: Main, Path: "other.yaml", Content: "o: 1\n", Message: "Other"})
	}
	commit := x.People.Merge(t, Ann, made.Number, method)
	x.none(t)
	ended := x.ended(t, 5)
	if len(ended) != 1 {
		t.Fatalf("closed: %+v", ended)
	}
	pull := ended[0]
	if pull.State != scm.StateMerged || pull.ClosedAt.IsZero() || pull.Head.Message == "" {
		t.Errorf("merged: %+v", pull)
	}
	if pull.Merged.Commit != "" && pull.Merged.Commit != commit || pull.Merged.At.IsZero() {
		t.Errorf("merged as %+v, want commit %s", pull.Merged, commit)
	}
	x.wantMergedAs(t, pull, commit)
	merged, err := x.repo.PullRequests().Merge(t.Context(), made.Number, scm.Merge{Head: made.Head.Commit})
	if err != nil || merged.Commit != pull.Merged.Commit {
		t.Errorf("already merged: %+v, %v", merged, err)
	}
}

// wantMergedAs fails unless the forge reports which pull request a commit is the merge of, if it reports the commit of a merge
// at all. Neither its head nor a commit that was pushed is one.
func (x *fixture) wantMergedAs(t *testing.T, pull scm.PullRequest, commit string) {
	t.Helper()
	merges, can := x.repo.(scm.Merges)
	if !can {
		t.Fatal("the forge does not report merges")
	}
	for _, one := range []string{commit, pull.Head.Commit, x.Git.Commit(t, Commit{By: Bob, Branch: Main, Path: "pushed.yaml", Content: "p: 1\n", Message: "Push"})} {
		found, err := merges.MergedAs(t.Context(), one)
		fatal(t, "merges of "+one, err)
		switch {
		case one != pull.Merged.Commit && len(found) > 0:
			t.Errorf("%s is no merge: %+v", one, found)
		case one == pull.Merged.Commit && (len(found) != 1 || found[0].Number != pull.Number || found[0].Merged != pull.Merged || found[0].Base != Main):
			t.Errorf("%s: %+v, want %+v", one, found, pull)
		}
	}
	if found, err := merges.MergedAs(t.Context(), strings.Repeat("1", 40)); err != nil || len(found) > 0 {
		t.Errorf("a commit that does not exist: %+v, %v", found, err)
	}
}
