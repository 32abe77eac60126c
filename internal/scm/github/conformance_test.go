package github_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/scm/scmtest"
	"promoter/internal/secret"
)

func TestConformance_server(t *testing.T) {
	t.Parallel()
	scmtest.Run(t, func(t *testing.T) scmtest.Bench {
		_, made := newServerBench(t)
		return made
	})
}

// self is the account under test.
const self = "promoter-bot"

// bench is the strict server with the people of the suite.
type bench struct {
	*githubtest.Server
	repo  *githubtest.Repository
	token string
	clock func() time.Time
}

func newServerBench(t *testing.T) (*bench, scmtest.Bench) {
	t.Helper()
	clock := ticking()
	b := &bench{Server: githubtest.New(t, githubtest.Options{Now: clock}), clock: clock}
	b.repo = b.NewRepository("acme/deploy", map[string]string{"a.yaml": "image: web:1\n"})
	b.AddBot(scmtest.Robot + "[bot]")
	for who, permission := range map[string]string{
		self: "write", scmtest.Ann: "write", scmtest.Bob: "write", scmtest.Eve: "read", scmtest.Robot + "[bot]": "write",
	} {
		b.repo.Permit(who, permission)
	}
	b.SetTeam(scmtest.Team, scmtest.Ann)
	b.token = b.Token(self, "repo", "read:org")
	forge, err := github.New(github.Options{
		URL: b.URL(), API: b.API(), HTTP: b.Client(), Now: time.Now,
		Token: func(context.Context) (secret.String, error) { return secret.New(b.token), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return b, scmtest.Bench{Forge: forge, Name: "acme/deploy", Git: b.git(), People: b.people(), World: b.world()}
}

// ticking is a clock that goes a second further whenever it is read, because
// GitHub tells times in seconds.
func ticking() func() time.Time {
	begin, reads := time.Now(), atomic.Int64{}
	return func() time.Time { return begin.Add(time.Duration(reads.Add(1)) * time.Second) }
}

func (b *bench) git() scmtest.Git {
	return scmtest.Git{
		Commit: func(_ *testing.T, c scmtest.Commit) string {
			if c.By == "" {
				c.By = self
			}
			return b.repo.Commit(c.By, c.Branch, c.Message, map[string]string{c.Path: c.Content})
		},
		Log: func(_ *testing.T, branch string) []string {
			if b.repo.Head(branch) == "" {
				return nil
			}
			return strings.Fields(b.repo.Git("rev-list", branch))
		},
		Message: func(_ *testing.T, commit string) string { return b.repo.Git("log", "-1", "--format=%B", commit) },
		Delete:  func(_ *testing.T, who, branch string) { b.repo.DeleteBranch(who, branch) },
	}
}

// login is the account of a name of the suite.
func login(who string) string {
	if who == scmtest.Robot {
		return who + "[bot]"
	}
	return who
}

func (b *bench) people() scmtest.People {
	return scmtest.People{
		Open:  func(_ *testing.T, who, head, base, title string) int { return b.repo.OpenPull(who, head, base, title) },
		Fork:  func(_ *testing.T, who, head, base string) int { return b.repo.ForkPull(who, head, base, "From a fork") },
		Close: func(_ *testing.T, who string, number int) { b.repo.ClosePull(who, number) },
		Merge: func(_ *testing.T, who string, number int, method string) string {
			return b.repo.MergePull(who, number, method)
		},
		Retitle: func(_ *testing.T, _ string, number int, title string) { b.repo.EditPull(number, &title, nil) },
		Label:   func(_ *testing.T, _ string, number int, label string) { b.repo.LabelPull(number, label) },
		Review: func(_ *testing.T, who string, number int, state scm.ReviewState) {
			words := map[scm.ReviewState]string{scm.Approved: "APPROVED", scm.ChangesRequested: "CHANGES_REQUESTED", scm.Commented: "COMMENTED"}
			b.repo.Review(login(who), number, words[state])
		},
		Dismiss: func(_ *testing.T, who string, number int) { b.repo.DismissReviews(who, number) },
		Comment: func(_ *testing.T, who string, number int, body string) { b.repo.Comment(who, number, body) },
		Status: func(_ *testing.T, who, commit, name string, state scm.CheckState) {
			words := map[scm.CheckState]string{scm.CheckPassed: "success", scm.CheckPending: "pending", scm.CheckFailed: "failure"}
			b.repo.SetStatus(login(who), commit, name, words[state])
		},
		Check: func(_ *testing.T, who, commit, name, conclusion string) {
			b.repo.SetCheckRun(login(who), commit, name, conclusion)
		},
		Release: func(_ *testing.T, r scmtest.Release) {
			b.repo.AddRelease(scmtest.Ann, r.Tag, r.Published, r.Draft, r.Prerelease)
		},
	}
}

func (b *bench) world() scmtest.World {
	return scmtest.World{
		Rename:   func(*testing.T) string { b.repo.Rename("moved"); return "acme/moved" },
		Archive:  func(*testing.T) { b.repo.SetArchived(true) },
		Remove:   func(*testing.T) { b.repo.Remove() },
		Permit:   func(_ *testing.T, who, permission string) { b.repo.Permit(login(who), permission) },
		ReadOnly: func(*testing.T) { b.repo.Permit(self, "read") },
		Scope:    func(*testing.T) { b.repo.SetPrivate(false); b.SetScopes(b.token, "read:org") },
		Revoke:   func(*testing.T) { b.Revoke(b.token) },
		Protect: func(_ *testing.T, name string) {
			b.repo.Protect("main", githubtest.Protection{Checks: []string{name}})
		},
		Queue:   func(*testing.T) { b.repo.RequireQueue() },
		Methods: func(_ *testing.T, methods ...string) { b.repo.AllowMethods(methods...) },
		Lose:    func(*testing.T) { b.Lose(githubtest.AnyWrite) },
		Fail:    func(_ *testing.T, status int) { b.Fail("", status, "Something went wrong") },
		Limit:   func(_ *testing.T, secondary bool, until time.Time) { b.Limit(secondary, until) },
		Requests: func() (all, writes int) {
			for route, n := range b.Requests() {
				all += n
				if !strings.HasPrefix(route, "GET ") {
					writes += n
				}
			}
			return all, writes
		},
	}
}
