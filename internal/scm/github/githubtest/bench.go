package githubtest

import (
	"testing"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/forgetest"
	"promoter/internal/scm/scmtest"
)

// Self is the account of the token of the adapter under test.
const Self = "promoter-bot"

// Bench returns the repository with the users of the suite. The forge is the adapter
// under test, with a token of Self.
func (r *Repository) Bench(forge scm.Forge) scmtest.Bench {
	r.s.AddBot(login(scmtest.Robot))
	for who, permission := range map[string]string{
		Self: "write", scmtest.Ann: "write", scmtest.Bob: "write", scmtest.Eve: "read", scmtest.Robot: "write",
	} {
		r.Settings.Permit(login(who), permission)
	}
	r.s.SetTeam(scmtest.Team, scmtest.Ann)
	return scmtest.Bench{
		Forge: forge, Name: r.Settings.Name(), Git: r.Git.Hands(Self), People: r.people(), World: r.world(),
	}
}

// login returns the account for a name of the suite.
func login(who string) string {
	if who == scmtest.Robot {
		return who + "[bot]"
	}
	return who
}

func (r *Repository) people() scmtest.People {
	return scmtest.People{
		Open:     func(_ *testing.T, who, head, base, title string) int { return r.Pulls.Open(who, head, base, title) },
		Fork:     func(_ *testing.T, who, head, base string) int { return r.Pulls.Fork(who, head, base, "From a fork") },
		Close:    func(_ *testing.T, who string, number int) { r.Pulls.Close(who, number) },
		Reopen:   func(_ *testing.T, who string, number int) { r.restore(who, number) },
		Retarget: func(_ *testing.T, _ string, number int, base string) { r.retarget(number, base) },
		Draft:    func(_ *testing.T, _ string, number int, draft bool) { r.draft(number, draft) },
		Merge: func(_ *testing.T, who string, number int, method string) string {
			return r.Pulls.Merge(who, number, method)
		},
		Retitle: func(_ *testing.T, _ string, number int, title string) { r.Pulls.Edit(number, &title, nil) },
		Label:   func(_ *testing.T, _ string, number int, label string) { r.Pulls.Label(number, label) },
		Review: func(_ *testing.T, who string, number int, state scm.ReviewState) {
			words := map[scm.ReviewState]string{scm.Approved: "APPROVED", scm.ChangesRequested: "CHANGES_REQUESTED", scm.Commented: "COMMENTED"}
			r.Pulls.Review(login(who), number, words[state])
		},
		Dismiss:   func(_ *testing.T, who string, number int) { r.Pulls.Dismiss(who, number) },
		Comment:   func(_ *testing.T, who string, number int, body string) { r.Pulls.Comment(login(who), number, body) },
		Reword:    func(_ *testing.T, comment scm.Comment, body string) { r.Pulls.Reword(comment.ID, body) },
		Unsay:     func(_ *testing.T, comment scm.Comment) { r.Pulls.DeleteComment(comment.ID) },
		Ask:       func(_ *testing.T, who, body string) { r.Pulls.Ask(who, body) },
		Reactions: func(_ *testing.T, comment scm.Comment) []string { return r.Pulls.Reactions(comment.ID) },
		Status: func(_ *testing.T, who, commit, name string, state scm.CheckState) {
			words := map[scm.CheckState]string{scm.CheckPassed: "success", scm.CheckPending: "pending", scm.CheckFailed: "failure"}
			r.Settings.SetStatus(login(who), commit, name, words[state])
		},
		Check: func(_ *testing.T, who, commit, name, conclusion string) {
			r.SetCheckRun(login(who), commit, name, conclusion)
		},
		Release: func(_ *testing.T, release scmtest.Release) {
			r.Settings.AddRelease(scmtest.Ann, release.Tag, release.Published, release.Draft, release.Prerelease)
		},
	}
}

// restore uses the buttons "Restore branch" and "Reopen pull request".
func (r *Repository) restore(who string, number int) {
	if pull := r.Pulls.Get(number); r.Git.Head(pull.Head) == "" {
		r.Git.SetHead(who, pull.Head, pull.HeadCommit)
	}
	r.Pulls.Reopen(who, number)
}

func (r *Repository) retarget(number int, base string) {
	r.s.act(func() {
		p := r.must(number)
		p.base, p.baseCommit = base, r.bare.Head(base)
		p.touch()
	})
}

func (r *Repository) draft(number int, draft bool) {
	r.s.act(func() {
		p := r.must(number)
		p.draft = draft
		p.touch()
	})
}

func (r *Repository) world() scmtest.World {
	return scmtest.World{
		Rename:   func(*testing.T) string { r.Settings.Rename("moved"); return r.Settings.Name() },
		Archive:  func(*testing.T) { r.Settings.SetArchived(true) },
		Remove:   func(*testing.T) { r.Settings.Remove() },
		Permit:   func(_ *testing.T, who, permission string) { r.Settings.Permit(login(who), permission) },
		ReadOnly: func(*testing.T) { r.Settings.Permit(Self, "read") },
		Scope: func(*testing.T) {
			r.Settings.SetPrivate(false)
			r.s.eachToken(Self, func(text string) { r.s.SetScopes(text, "read:org") })
		},
		Revoke: func(*testing.T) { r.s.eachToken(Self, r.s.Revoke) },
		Protect: func(_ *testing.T, name string) {
			r.Protect("main", Protection{Demands: Demands{Checks: []string{name}}})
		},
		Queue:    func(*testing.T) { r.RequireQueue() },
		Methods:  func(_ *testing.T, methods ...string) { r.AllowMethods(methods...) },
		Lose:     func(*testing.T) { r.s.Traffic.Lose(forgetest.AnyWrite) },
		Fail:     func(_ *testing.T, status int) { r.s.Fail("", status, "Something went wrong") },
		Limit:    func(_ *testing.T, secondary bool, until time.Time) { r.s.Limit(secondary, until) },
		Requests: r.s.Traffic.Total,
	}
}

// eachToken calls do with every token of an account.
func (s *Server) eachToken(login string, do func(text string)) {
	var all []string
	s.act(func() {
		for text, token := range s.tokens {
			if lower(token.owner.login) == lower(login) {
				all = append(all, text)
			}
		}
	})
	for _, text := range all {
		do(text)
	}
}
