package scmtest

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// landing returns the merge that the suite requests.
func landing(head string) scm.Merge {
	return scm.Merge{Head: head, Title: "Promote web to prod", Message: "Promoter-Environment: prod\nPromoter-Application: web"}
}

// merging tests successful merges.
func merging() []condition {
	return []condition{
		{
			name: "Merge lands and tells the commit", feature: pullRequests,
			run: func(t *testing.T, x *fixture) { x.land(t, x.propose(t)) },
			without: func(t *testing.T, x *fixture) {
				_, err := x.repo.PullRequests().Merge(t.Context(), 1, landing(""))
				wantKind(t, "merge", err, fault.NotFound)
			},
		},
		{
			name: "Merge brings the trailers to the base", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Methods} },
			run: func(t *testing.T, x *fixture) {
				x.World.Methods(t, "squash")
				x.repo = open(t, x.Bench)
				x.land(t, x.propose(t))
				if said := x.Git.Message(t, x.main(t)); !strings.HasPrefix(said, "Promote web to prod") || !strings.Contains(said, "Promoter-Application: web") {
					t.Errorf("the commit says %q", said)
				}
			},
		},
		{
			name: "Merge uses the method that is left", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Methods} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t) // opened while all were allowed
				x.World.Methods(t, "rebase")
				x.land(t, made)
			},
		},
		{
			name: "already merged is success, and merges nothing again", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				first := x.land(t, made)
				count := len(x.Git.Log(t, Main))
				second, err := x.repo.PullRequests().Merge(t.Context(), made.Number, landing(made.Head.Commit))
				if err != nil || second.Commit != first.Commit || len(x.Git.Log(t, Main)) != count {
					t.Errorf("merged as %+v, then %+v, %v", first, second, err)
				}
			},
		},
		{
			name: "a merge whose answer is lost is success", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Lose} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.World.Lose(t)
				x.land(t, made)
			},
		},
		{
			name: "Merge that the server had an accident with is temporary", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Fail} },
			run: func(t *testing.T, x *fixture) {
				made, before := x.propose(t), x.main(t)
				x.World.Fail(t, http.StatusBadGateway)
				_, err := x.repo.PullRequests().Merge(t.Context(), made.Number, landing(made.Head.Commit))
				wantKind(t, "merge", err, fault.Temporary)
				if x.main(t) != before || errors.Is(err, scm.ErrBehind) { // which says nothing about the head
					t.Errorf("it merged, or the head is behind: %v", err)
				}
			},
		},
	}
}

// land merges and checks that exactly one merge happened.
func (x *fixture) land(t *testing.T, pull scm.PullRequest) scm.Merged {
	t.Helper()
	merged, err := x.repo.PullRequests().Merge(t.Context(), pull.Number, landing(pull.Head.Commit))
	fatal(t, "merge", err)
	if merged.Commit != "" && merged.Commit != x.main(t) || merged.At.IsZero() {
		t.Errorf("merged as %+v, main is %s", merged, x.main(t))
	}
	x.none(t)
	if ended := x.ended(t, 5); len(ended) != 1 || ended[0].State != scm.StateMerged || ended[0].Merged.Commit != merged.Commit {
		t.Errorf("closed: %+v, merged as %+v", ended, merged)
	}
	return merged
}

// refusing tests refused merges.
func refusing() []condition {
	return []condition{
		{
			name: "a head that moved is a conflict", feature: guarded,
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.Git.Commit(t, Commit{By: Ann, Branch: branch, Path: "a.yaml", Content: "image: evil:1\n", Message: "Slipped in"})
				x.refused(t, made, "", fault.Conflict)
			},
		},
		{
			name: "Merge that a required check forbids is unauthorized with the forge's words", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Protect, b.People.Status} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.World.Protect(t, "ci/required")
				x.refused(t, made, "ci/required", fault.Unauthorized)
				x.People.Status(t, Robot, made.Head.Commit, "ci/required", scm.CheckFailed)
				x.refused(t, made, "ci/required", fault.Unauthorized)
				x.People.Status(t, Robot, made.Head.Commit, "ci/required", scm.CheckPassed)
				x.land(t, made)
			},
		},
		{
			name: "Merge past a merge queue is unauthorized with the forge's words", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Queue} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.World.Queue(t)
				x.refused(t, made, "merge queue", fault.Unauthorized)
			},
		},
		{
			name: "Merge without an allowed method is unauthorized", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Methods} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.World.Methods(t)
				x.refused(t, made, "", fault.Unauthorized)
			},
		},
		{
			name: "a conflict with the base is temporary", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.Git.Commit(t, Commit{By: Bob, Branch: Main, Path: "a.yaml", Content: "image: web:9\n", Message: "Other"})
				x.refused(t, made, "", fault.Temporary)
				x.refused(t, made, "", fault.Temporary) // also after the forge has computed it
			},
		},
		{
			name: "Merge of a closed one is a conflict", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.People.Close} },
			run: func(t *testing.T, x *fixture) {
				made, before := x.propose(t), x.main(t)
				x.People.Close(t, Ann, made.Number)
				_, err := x.repo.PullRequests().Merge(t.Context(), made.Number, landing(made.Head.Commit))
				wantKind(t, "merge", err, fault.Conflict)
				if x.main(t) != before {
					t.Error("it merged")
				}
			},
		},
		{
			name: "Merge without the right to push is unauthorized", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.ReadOnly} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.World.ReadOnly(t)
				x.refused(t, made, "", fault.Unauthorized)
			},
		},
	}
}

// refused checks that a merge fails with this message and changes nothing.
func (x *fixture) refused(t *testing.T, pull scm.PullRequest, words string, kind fault.Kind) {
	t.Helper()
	before := x.main(t)
	_, err := x.repo.PullRequests().Merge(t.Context(), pull.Number, landing(pull.Head.Commit))
	wantKind(t, "merge", err, kind)
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("the words are %v, want %q", err, words)
	}
	if x.main(t) != before {
		t.Error("main moved")
	}
	x.one(t)
}
