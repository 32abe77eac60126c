package gitlab_test

import (
	"errors"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/scmtest"
)

const branch = "promoter/prod/web"

// propose pushes a head and opens a merge request from it.
func (b *bench) propose(t *testing.T, repo scm.Repository) scm.PullRequest {
	t.Helper()
	b.push("image: web:2\n")
	made, err := repo.PullRequests().Create(t.Context(), scm.Draft{Head: branch, Base: "main", Title: "Promote web", Body: "B"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (b *bench) push(content string) string {
	return b.project.Git.Commit(gitlabtest.Self, branch, "Promote web\n\nPromoter-Environment: prod", map[string]string{"a.yaml": content})
}

func merging(head string) scm.Merge {
	return scm.Merge{Head: head, Base: "main", Title: "Promote web to prod", Message: "Promoter-Environment: prod"}
}

// GitLab's messages for refusals with status 405 are distinguished.
func TestMerge_refusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(b *bench, number int)
		kind   fault.Kind
		words  string
		behind bool
	}{
		"still computing": {func(b *bench, _ int) { b.project.Late(1) }, fault.Temporary, "still computing", false},
		"behind, fast-forward": {func(b *bench, _ int) {
			b.project.Set(func(s *gitlabtest.Settings) { s.Method = "ff" })
			b.project.Git.Commit("ann", "main", "Other", map[string]string{"b.yaml": "b: 1\n"})
		}, fault.Temporary, "need_rebase", true},
		"behind, semi-linear": {func(b *bench, _ int) {
			b.project.Set(func(s *gitlabtest.Settings) { s.Method = "rebase_merge" })
			b.project.Git.Commit("ann", "main", "Other", map[string]string{"b.yaml": "b: 1\n"})
		}, fault.Temporary, "need_rebase", true},
		"conflict": {func(b *bench, _ int) {
			b.project.Git.Commit("ann", "main", "Other", map[string]string{"a.yaml": "image: web:9\n"})
		}, fault.Temporary, "conflicts with its base", true},
		"draft":      {func(b *bench, n int) { b.project.SetDraft(n, true) }, fault.Unauthorized, "it is a draft (draft_status)", false},
		"approvals":  {func(b *bench, _ int) { b.project.Set(rules(2)) }, fault.Unauthorized, "approvals are missing (not_approved)", false},
		"objections": {func(b *bench, n int) { b.project.RequestChanges("ann", n) }, fault.Unauthorized, "a reviewer requested changes", false},
		"no pipeline": {func(b *bench, _ int) {
			b.project.Set(func(s *gitlabtest.Settings) { s.Pipelines, s.CI = true, "" })
		}, fault.Unauthorized, "a pipeline must succeed (ci_must_pass)", false},
		"status 200": {func(b *bench, _ int) {
			b.project.Set(func(s *gitlabtest.Settings) { s.MergeError = "Something went wrong during merge pre-receive hook." })
		}, fault.Unauthorized, "Something went wrong during merge pre-receive hook.", false},
		"a failed job": {func(b *bench, n int) {
			b.project.Set(func(s *gitlabtest.Settings) { s.Pipelines = true })
			b.project.SetJob("ann", b.project.Request(n).HeadCommit, "e2e", "failed", false)
		}, fault.Unauthorized, "a pipeline must succeed: e2e is failed (ci_must_pass)", false},
		"protected": {func(b *bench, _ int) {
			b.project.Protect("ma*", gitlabtest.Protection{Push: gitlabtest.Maintainer, Merge: gitlabtest.Maintainer})
		}, fault.Unauthorized, "does not let this account merge into main", false},
		"no scope": {func(b *bench, _ int) { b.SetScopes(b.token, "read_api") }, fault.Unauthorized, "lacks the scope api", false},
		"train":    {func(b *bench, _ int) { b.project.Set(func(s *gitlabtest.Settings) { s.Trains = true }) }, fault.Unauthorized, "merge train", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := newBench(t, gitlabtest.Options{})
			repo := b.open(t)
			made := b.propose(t, repo)
			test.change(b, made.Number)
			before := b.project.Git.Head("main")
			_, err := repo.PullRequests().Merge(t.Context(), made.Number, merging(made.Head.Commit))
			if fault.KindOf(err) != test.kind || err == nil || !strings.Contains(err.Error(), test.words) || errors.Is(err, scm.ErrBehind) != test.behind {
				t.Errorf("%q, behind %t: %v", fault.KindOf(err), errors.Is(err, scm.ErrBehind), err)
			}
			if b.project.Git.Head("main") != before {
				t.Error("main moved")
			}
		})
	}
}

// Our status creates no pipeline, which would succeed although the project's own has not
// started, or could not.
func TestMerge_ownStatusIsNoPipeline(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	b.project.Set(func(s *gitlabtest.Settings) { s.Pipelines, s.CI = true, "" })
	repo := b.open(t)
	made, before := b.propose(t, repo), b.project.Git.Head("main")
	if err := repo.Signals().SetStatus(t.Context(), made.Head.Commit, scm.Status{Context: "promoter", State: scm.CheckPassed}); !errors.Is(err, scm.ErrStatusNotStored) {
		t.Fatal(err)
	}
	if found := b.project.Statuses(made.Head.Commit); len(found) != 0 {
		t.Errorf("statuses %v", found)
	}
	_, err := repo.PullRequests().Merge(t.Context(), made.Number, merging(made.Head.Commit))
	if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "a pipeline must succeed") || b.project.Git.Head("main") != before {
		t.Errorf("merged %t: %v", b.project.Git.Head("main") != before, err)
	}
	b.project.SetJob("ann", made.Head.Commit, "e2e", "success", false)
	if _, err := b.open(t).PullRequests().Merge(t.Context(), made.Number, merging(made.Head.Commit)); err != nil {
		t.Error(err)
	}
}

func rules(wanted int) func(*gitlabtest.Settings) {
	return func(s *gitlabtest.Settings) {
		s.Rules = []gitlabtest.ApprovalRule{{Name: "sre", Required: wanted}, {Name: "other", Required: 9, Branches: []string{"env/*"}}}
	}
}

// The merge commit is returned, or left empty.
func TestMerge_whatLanded(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]gitlabtest.Settings{
		"merge commit": {}, "semi-linear": {Method: "rebase_merge"}, "fast-forward": {Method: "ff"},
		"squash": {Squash: "always"}, "squash and fast-forward": {Method: "ff", Squash: "always"}, "rebased by itself": {Method: "ff", AutoRebase: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := newBench(t, gitlabtest.Options{})
			b.project.Set(func(s *gitlabtest.Settings) { *s = settings })
			repo := b.open(t)
			made := b.propose(t, repo)
			if settings.AutoRebase {
				b.project.Git.Commit("ann", "main", "Other", map[string]string{"b.yaml": "b: 1\n"})
			}
			merged, err := repo.PullRequests().Merge(t.Context(), made.Number, merging(made.Head.Commit))
			want := b.project.Git.Head("main")
			if settings.AutoRebase {
				want = "" // not reported by GitLab
			}
			if err != nil || merged.Commit != want || merged.At.IsZero() {
				t.Errorf("merged as %+v, %v, want %s", merged, err, want)
			}
			ended, err := repo.PullRequests().Closed(t.Context(), branch, 1)
			if err != nil || len(ended) != 1 || ended[0].Merged != merged || !strings.Contains(ended[0].Head.Message, "Promoter-Environment") {
				t.Errorf("closed: %+v, %v", ended, err)
			}
			said := b.project.Git.ReadCommit(b.project.Git.Head("main")).Message
			if settings.Squash != "" && !strings.HasPrefix(said, "Promote web to prod\n\nPromoter-Environment: prod") {
				t.Errorf("the commit says %q", said)
			}
		})
	}
}

// A merge request that was merged by a train or a user in the meantime is a success.
func TestMerge_alreadyMergedInATrain(t *testing.T) {
	t.Parallel()
	b, made := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	pull := b.propose(t, repo)
	b.project.Set(func(s *gitlabtest.Settings) { s.Trains = true })
	commit := made.People.Merge(t, scmtest.Ann, pull.Number, "queue")
	merged, err := repo.PullRequests().Merge(t.Context(), pull.Number, merging(pull.Head.Commit))
	if err != nil || merged.Commit != commit {
		t.Errorf("merged as %+v, %v", merged, err)
	}
}

// Our commit is not squashed if the project allows the choice.
func TestCreate_keepsTheCommit(t *testing.T) {
	t.Parallel()
	for option, want := range map[string]bool{"default_on": false, "default_off": false, "never": false} {
		b, _ := newBench(t, gitlabtest.Options{})
		b.project.Set(func(s *gitlabtest.Settings) { s.Squash = option })
		if made := b.propose(t, b.open(t)); b.project.Request(made.Number).Squash != want {
			t.Errorf("%s: squashed", option)
		}
	}
}

// Errors about an archived project and a lost role report the reason, whatever was
// requested.
func TestWrites_sayWhy(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	made := b.propose(t, repo)
	title := "T"
	writes := map[string]func() error{
		"edit": func() error { return repo.PullRequests().Edit(t.Context(), made.Number, scm.Edit{Title: &title}) },
		"status": func() error {
			return repo.Signals().SetStatus(t.Context(), made.Head.Commit, scm.Status{Context: "promoter", State: scm.CheckPassed})
		},
		"note": func() error { return repo.Conversation().Say(t.Context(), made.Number, "<!-- m -->", "text") },
	}
	b.project.Settings.Permit(gitlabtest.Self, gitlabtest.Reporter)
	for name, write := range writes {
		if err := write(); fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "needs the role Developer") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.project.Settings.SetArchived(true)
	for name, write := range writes {
		if err := write(); fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "archived") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
