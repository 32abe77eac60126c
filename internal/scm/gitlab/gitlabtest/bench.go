package gitlabtest

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/forgetest"
	"promoter/internal/scm/scmtest"
)

// Self is the account of the token of the adapter under test.
const Self = "promoter-bot"

// Bench returns the project with the users of the suite. The forge is the adapter
// under test, with a token of Self.
func (p *Project) Bench(forge scm.Forge) scmtest.Bench {
	p.s.AddBot(scmtest.Robot)
	for who, role := range map[string]int{
		Self: Developer, scmtest.Ann: Developer, scmtest.Bob: Developer, scmtest.Eve: Reporter, scmtest.Robot: Developer,
	} {
		p.Permit(who, role)
	}
	p.s.SetGroup(scmtest.Team, scmtest.Ann)
	return scmtest.Bench{
		Forge: forge, Name: p.Path(), Git: p.Git.Hands(Self), People: p.people(), World: p.world(),
		Label: func(name string) string { return strings.ReplaceAll(name, ",", " ") },
	}
}

func (p *Project) people() scmtest.People {
	return scmtest.People{
		Open:     func(_ *testing.T, who, head, base, title string) int { return p.OpenRequest(who, head, base, title) },
		Fork:     func(_ *testing.T, who, head, base string) int { return p.ForkRequest(who, head, base, "From a fork") },
		Close:    func(_ *testing.T, who string, number int) { p.CloseRequest(who, number) },
		Reopen:   func(_ *testing.T, who string, number int) { p.ReopenRequest(who, number) },
		Retarget: func(_ *testing.T, _ string, number int, base string) { p.Retarget(number, base) },
		Draft:    func(_ *testing.T, _ string, number int, draft bool) { p.SetDraft(number, draft) },
		Merge: func(_ *testing.T, who string, number int, method string) string {
			return p.MergeRequest(who, number, method)
		},
		Retitle:   func(_ *testing.T, _ string, number int, title string) { p.Retitle(number, title) },
		Label:     func(_ *testing.T, _ string, number int, label string) { p.Label(number, label) },
		Review:    func(_ *testing.T, who string, number int, state scm.ReviewState) { p.review(who, number, state) },
		Dismiss:   func(_ *testing.T, who string, number int) { p.Unapprove(who, number) },
		Comment:   func(_ *testing.T, who string, number int, body string) { p.Say(who, number, body) },
		Reword:    func(_ *testing.T, comment scm.Comment, body string) { p.Reword(comment.Number, int(comment.ID), body) },
		Unsay:     func(_ *testing.T, comment scm.Comment) { p.Unsay(comment.Number, int(comment.ID)) },
		Ask:       func(_ *testing.T, who, body string) { p.Ask(who, body) },
		Reactions: func(_ *testing.T, comment scm.Comment) []string { return p.Awards(comment.Number, int(comment.ID)) },
		Status: func(_ *testing.T, who, commit, name string, state scm.CheckState) {
			words := map[scm.CheckState]string{scm.CheckPassed: "success", scm.CheckPending: "pending", scm.CheckFailed: "failed"}
			p.SetStatus(who, commit, name, words[state])
		},
		Check: func(_ *testing.T, who, commit, name, conclusion string) { p.check(who, commit, name, conclusion) },
		Release: func(_ *testing.T, one scmtest.Release) {
			if one.Draft { // a release with a future date
				one.Published = p.s.time().Add(24 * time.Hour)
			}
			p.AddRelease(scmtest.Ann, one.Tag, one.Published)
		},
	}
}

func (p *Project) review(who string, number int, state scm.ReviewState) {
	switch state {
	case scm.Approved:
		p.Approve(who, number)
	case scm.ChangesRequested:
		p.RequestChanges(who, number)
	default:
		p.Remark(who, number, "What is this?")
	}
}

// check adds a job that ended like a check run of GitHub.
func (p *Project) check(who, commit, name, conclusion string) {
	jobs := map[string]string{
		"success": "success", "neutral": "failed", "skipped": "skipped", "in_progress": "running",
		"failure": "failed", "cancelled": "canceled", "timed_out": "failed", "action_required": "failed",
	}
	p.SetJob(who, commit, name, jobs[conclusion], conclusion == "neutral")
}

func (p *Project) world() scmtest.World {
	roles := map[string]int{"write": Developer, "read": Reporter, "none": NoOne}
	var queue func(*testing.T)
	if !p.s.options.Free { // no merge trains
		queue = func(*testing.T) { p.Set(func(s *Settings) { s.Trains = true }) }
	}
	return scmtest.World{
		Rename:   func(*testing.T) string { p.Move("acme/other/moved"); return p.Path() },
		Archive:  func(*testing.T) { p.SetArchived(true) },
		Remove:   func(*testing.T) { p.Remove() },
		Permit:   func(_ *testing.T, who, permission string) { p.Permit(who, roles[permission]) },
		ReadOnly: func(*testing.T) { p.Permit(Self, Reporter) },
		Scope: func(*testing.T) {
			p.s.eachToken(Self, func(text string) { p.s.SetScopes(text, "read_api", "write_repository") })
		},
		Revoke:   func(*testing.T) { p.s.eachToken(Self, p.s.Revoke) },
		Protect:  func(_ *testing.T, name string) { p.require(name) },
		Queue:    queue,
		Methods:  func(_ *testing.T, methods ...string) { p.allow(methods...) },
		Lose:     func(*testing.T) { p.s.Traffic.Lose(forgetest.AnyWrite) },
		Fail:     func(_ *testing.T, status int) { p.s.Fail("", status, "Something went wrong") },
		Limit:    func(_ *testing.T, secondary bool, until time.Time) { p.s.Limit(secondary, until) },
		Requests: p.s.Traffic.Total,
	}
}

// require enables "Pipelines must succeed", with a job that has not started in the
// pipeline of every open merge request.
func (p *Project) require(name string) {
	p.Set(func(s *Settings) { s.Pipelines = true })
	for _, one := range p.Requests() {
		if one.State == "opened" {
			p.SetStatus(scmtest.Robot, one.SHA, name, "pending")
		}
	}
}

// allow restricts the merge methods. A project always has one: if methods is empty,
// no user may merge.
func (p *Project) allow(methods ...string) {
	if len(methods) == 0 {
		p.Protect("main", Protection{Push: Maintainer, Merge: NoOne})
		return
	}
	p.Set(func(s *Settings) {
		switch methods[0] {
		case "squash":
			s.Squash = "always"
		case "rebase":
			s.Method = "ff"
		}
	})
}

// eachToken calls do with every token of an account.
func (s *Server) eachToken(name string, do func(text string)) {
	var all []string
	s.act(func() {
		for text, token := range s.tokens {
			if lower(token.owner.name) == lower(name) {
				all = append(all, text)
			}
		}
	})
	for _, text := range all {
		do(text)
	}
}
