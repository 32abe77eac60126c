package gitea_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea/giteatest"
)

// Right after a push to the head, Gitea refuses to merge: it checks for conflicts
// first. That resolves by itself and does not require a rebuilt head.
func TestMerge_lateLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.LookLate(1)
	repo := w.open(t)
	pull := w.propose(t, repo)
	_, err := merge(t, repo, pull)
	want(t, "right away", err, fault.Temporary, "try again later")
	if errors.Is(err, scm.ErrBehind) {
		t.Error("it is called behind")
	}
	merged, err := merge(t, repo, pull)
	if err != nil || merged.Commit != w.repo.Git.Head("main") {
		t.Errorf("then %+v, %v", merged, err)
	}
}

// A concurrent write makes Gitea fail to lock a ref, which it reports as forbidden.
func TestMerge_lockedRefIsNoPermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.Collide()
	_, err := merge(t, repo, pull)
	want(t, "merge", err, fault.Conflict, "cannot lock ref")
	w.Collide()
	_, err = repo.PullRequests().Create(t.Context(), scm.Draft{Head: "other", Base: "main", Title: "x"})
	want(t, "create", err, fault.Conflict)
	title := "x"
	w.Collide()
	want(t, "edit", repo.PullRequests().Edit(t.Context(), pull.Number, scm.Edit{Title: &title}), fault.Conflict)
}

// A rebuilt head may be merged if the refusal wraps ErrBehind. What a user has to
// change is refused with Gitea's own message, and with the rule if it is known.
func TestMerge_refusals(t *testing.T) {
	t.Parallel()
	protect := func(rule giteatest.Protection) func(*world, scm.PullRequest) {
		return func(w *world, _ scm.PullRequest) { w.repo.Protect("main", rule) }
	}
	title := "WIP: mine"
	for name, test := range map[string]struct {
		change func(*world, scm.PullRequest)
		kind   fault.Kind
		words  string
		behind bool
		rule   string
	}{
		"approvals": {protect(giteatest.Protection{Approvals: 1}), fault.Unauthorized, "enough approvals", false, ""},
		"checks":    {protect(giteatest.Protection{Checks: []string{"ci", "lint/*"}}), fault.Unauthorized, "the branch wants ci, lint/*", false, ""},
		"signed":    {protect(giteatest.Protection{Signed: true}), fault.Unauthorized, "wont sign", false, scm.RuleSigned},
		"allowed":   {protect(giteatest.Protection{MergeAllowed: []string{"ann"}}), fault.Unauthorized, "not allowed to merge", false, ""},
		"draft":     {func(w *world, p scm.PullRequest) { w.repo.Pulls.Edit(p.Number, &title, nil) }, fault.Unauthorized, "Work in progress", false, ""},
		"a server hook": {func(w *world, _ scm.PullRequest) {
			w.Fail("/merge", http.StatusConflict, "PushRejected with remote message: Changes freeze")
		}, fault.Unauthorized, "Changes freeze", false, ""},
		"outdated": {func(w *world, _ scm.PullRequest) {
			w.repo.Protect("main", giteatest.Protection{Outdated: true})
			w.repo.Git.Commit("ann", "main", "Other", map[string]string{"b.yaml": "b: 1\n"})
		}, fault.Temporary, "behind the base branch", true, ""},
		"a conflict in the merge itself": {func(w *world, _ scm.PullRequest) {
			w.Fail("/merge", http.StatusConflict, "")
		}, fault.Temporary, "conflicts with its base", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			repo := w.open(t)
			pull := w.propose(t, repo)
			test.change(w, pull)
			_, err := merge(t, repo, pull)
			want(t, "merge", err, test.kind, test.words)
			if errors.Is(err, scm.ErrBehind) != test.behind {
				t.Errorf("behind is not %t", test.behind)
			}
			refused, ok := errors.AsType[*scm.RefusedError](err)
			if ok != (test.kind == fault.Unauthorized) || ok && (refused.Rule != test.rule || strings.Contains(refused.Words, "answered")) {
				t.Errorf("refused by %+v", refused)
			}
		})
	}
}

// The default merge method of the repository is used if it is allowed.
func TestMerge_preferredWay(t *testing.T) {
	t.Parallel()
	for way, want := range map[string]struct {
		allowed []string
		subject string
		parents int
	}{
		"squash":            {[]string{"merge", "squash", "rebase"}, "Promote web to prod", 1},
		"rebase":            {[]string{"rebase"}, "Promote web", 1},
		"rebase-merge":      {[]string{"rebase-merge", "squash"}, "Promote web to prod", 2},
		"merge":             {[]string{"merge", "squash"}, "Promote web to prod", 2},
		"fast-forward-only": {[]string{"fast-forward-only"}, "Promote web", 1},
		"manually-merged":   {[]string{"squash"}, "Promote web to prod", 1},
	} {
		w := newWorld(t)
		w.repo.AllowWays(want.allowed...)
		w.repo.PreferWay(way)
		repo := w.open(t)
		pull := w.propose(t, repo)
		merged, err := merge(t, repo, pull)
		must(t, way, err)
		made := w.repo.Git.ReadCommit(w.repo.Git.Head("main"))
		if got, _, _ := strings.Cut(made.Message, "\n"); got != want.subject || len(made.Parents) != want.parents || merged.Commit != w.repo.Git.Head("main") {
			t.Errorf("%s made %+v, %+v", way, made, merged)
		}
	}
}

// A repository that allows only fast-forwards returns a 5xx error if the base has
// moved. If another method is allowed, the head is merged; otherwise it is behind.
func TestMerge_divergedFastForward(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.AllowWays("fast-forward-only")
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.repo.Git.Commit("ann", "main", "Other", map[string]string{"b.yaml": "b: 1\n"})
	_, err := merge(t, repo, pull)
	want(t, "the only way", err, fault.Temporary)
	if !errors.Is(err, scm.ErrBehind) {
		t.Error("it is not called behind")
	}
	w.repo.AllowWays("fast-forward-only", "squash")
	w.repo.PreferWay("fast-forward-only")
	_, err = merge(t, w.open(t), pull)
	must(t, "with another way", err)
}

// The branch of a merged pull request may be reused. The head that Gitea returns is
// then not the commit that was merged.
func TestMerge_branchServesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	pull := w.propose(t, repo)
	first, err := merge(t, repo, pull)
	must(t, "merge", err)
	w.push(t, "image: web:3\n")
	second, err := merge(t, repo, pull)
	if err != nil || second != first {
		t.Errorf("merged as %+v, then %+v, %v", first, second, err)
	}
	pull.Head.Commit = w.repo.Git.Head(head)
	_, err = merge(t, repo, pull)
	want(t, "with the new head", err, fault.Conflict, "its head is")
}

// Gitea calls a head that conflicts and one that it still checks the same. A check ends.
func TestMerge_conflictIsDistinguishedFromACheckByTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.repo.Git.Commit("ann", "main", "Other", map[string]string{"a.yaml": "image: web:9\n"})
	_, err := merge(t, repo, pull)
	want(t, "at first", err, fault.Temporary, "try again later")
	if errors.Is(err, scm.ErrBehind) {
		t.Error("it is called behind, and may be checked")
	}
	w.later(2 * time.Minute)
	_, err = merge(t, w.open(t), pull)
	want(t, "later", err, fault.Temporary, "conflicts with its base")
	if !errors.Is(err, scm.ErrBehind) {
		t.Error("it is not called behind")
	}
	w.push(t, "image: web:3\n")
	pull.Head.Commit = w.repo.Git.Head(head)
	if _, err = merge(t, w.open(t), pull); errors.Is(err, scm.ErrBehind) {
		t.Errorf("a new head is not checked: %v", err)
	}
}

// A refused merge starts a check, during which Gitea gives another reason.
func TestMerge_checkAfterARefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.repo.LookLate(1)
	old := pull.Head.Commit
	pull.Head.Commit = strings.Repeat("0", 40)
	_, err := merge(t, repo, pull)
	want(t, "another head", err, fault.Conflict, "its head is")
	pull.Head.Commit = old
	_, err = merge(t, repo, pull)
	want(t, "while it is checked", err, fault.Temporary, "try again later")
	_, err = merge(t, repo, pull)
	must(t, "then", err)
}

// Gitea merges it later by itself, if a user asked for that. It does not conflict.
func TestMerge_scheduledByAUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.Fail("/merge", http.StatusConflict, "pull request is already scheduled to auto merge when checks succeed [pull_id: 1]")
	_, err := merge(t, repo, pull)
	want(t, "merge", err, fault.Unauthorized, "already scheduled")
}
