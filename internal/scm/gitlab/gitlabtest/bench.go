package gitlabtest

import (
	"maps"
	"strings"
	"testing"
	"time"

	"promoter/internal/health"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
)

// Self is the account of the token of the adapter under test.
const Self = "promoter-bot"

// Bench returns the project with the users of the suite. The forge is the adapter
// under test, with a token of Self.
func (p *Project) Bench(forge scm.Forge) scmtest.Bench {
	p.s.AddBot(scmtest.Robot)
	for who, role := range map[string]string{
		Self: Developer, scmtest.Ann: Developer, scmtest.Bob: Developer, scmtest.Eve: Reporter, scmtest.Robot: Developer,
	} {
		p.Settings.Permit(who, role)
	}
	p.s.SetGroup(scmtest.Team, scmtest.Ann)
	bench := p.model.Bench(forge, Self, func(who string) string { return who })
	p.Set(func(s *Settings) { s.CI = "ci-job" })
	bench.Job = "ci-job"
	bench.Deployment = map[string]health.Status{
		"success": health.Healthy, "failed": health.Degraded, "canceled": health.Missing, "skipped": health.Missing,
		"created": health.Progressing, "running": health.Progressing, "blocked": health.Progressing,
	}
	bench.Label = func(name string) string { return strings.ReplaceAll(name, ",", " ") }
	bench.People.Draft = func(_ *testing.T, _ string, number int, draft bool) { p.SetDraft(number, draft) }
	bench.People.Review = func(_ *testing.T, who string, number int, state scm.ReviewState) { reviewAs(p, who, number, state) }
	bench.People.Dismiss = func(_ *testing.T, who string, number int) { p.Unapprove(who, number) }
	bench.People.Status = func(_ *testing.T, who, commit, name string, state scm.CheckState) {
		states := map[scm.CheckState]string{scm.CheckPassed: "success", scm.CheckPending: "pending", scm.CheckFailed: "failed"}
		p.SetStatus(who, commit, name, states[state])
	}
	bench.People.Check = func(_ *testing.T, who, commit, name, conclusion string) { addCheck(p, who, commit, name, conclusion) }
	bench.People.Release = func(_ *testing.T, one scmtest.Release) {
		if one.Draft { // a release with a future date
			one.Published = p.s.options.Now().Add(24 * time.Hour)
		}
		p.Settings.AddRelease(scmtest.Ann, one.Tag, one.Published, false, false)
		p.Settings.SetReleaseNotes(one.Tag, one.Notes)
	}
	bench.World.Rename = func(*testing.T) string { p.Settings.Rename("acme/other/moved"); return p.Settings.Name() }
	bench.World.Scope = func(*testing.T) {
		p.s.eachToken(Self, func(text string) { p.s.SetScopes(text, "read_api", "write_repository") })
	}
	bench.World.Revoke = func(*testing.T) { p.s.eachToken(Self, p.s.Revoke) }
	bench.World.Protect = func(_ *testing.T, name string) { requireJob(p, name) }
	if !p.s.options.Free { // no merge trains
		bench.World.Queue = func(*testing.T) { p.Set(func(s *Settings) { s.Trains = true }) }
	}
	bench.World.Methods = func(_ *testing.T, methods ...string) { allowMethods(p, methods...) }
	bench.World.Fail = func(_ *testing.T, status int) { p.s.Fail("", status, "Something went wrong") }
	bench.World.Limit = func(_ *testing.T, secondary bool, until time.Time) { p.s.Limit(secondary, until) }
	return bench
}

func reviewAs(p *Project, who string, number int, state scm.ReviewState) {
	switch state {
	case scm.Approved:
		p.Approve(who, number)
	case scm.ChangesRequested:
		p.RequestChanges(who, number)
	default:
		p.Remark(who, number, "What is this?")
	}
}

// addCheck adds a job that ended like a check run of GitHub.
func addCheck(p *Project, who, commit, name, conclusion string) {
	jobs := map[string]string{
		"success": "success", "neutral": "failed", "skipped": "skipped", "in_progress": "running",
		"failure": "failed", "cancelled": "canceled", "timed_out": "failed", "action_required": "failed",
	}
	p.SetJob(who, commit, name, jobs[conclusion], conclusion == "neutral")
}

// requireJob enables "Pipelines must succeed", with a job that has not started in the
// pipeline of every open merge request. Later ones have no pipeline yet.
func requireJob(p *Project, name string) {
	p.Set(func(s *Settings) { s.Pipelines, s.CI = true, "" })
	for _, one := range p.Pulls.All() {
		if one.Open {
			p.SetStatus(scmtest.Robot, one.HeadCommit, name, "pending")
		}
	}
}

// allowMethods restricts the merge methods. A project always has one: if methods is empty,
// no user may merge.
func allowMethods(p *Project, methods ...string) {
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
func (s *Server) eachToken(login string, do func(text string)) {
	var all map[string]*token
	s.act(func() { all = maps.Clone(s.tokens) })
	for text, one := range all {
		if lower(one.owner.Login) == lower(login) {
			do(text)
		}
	}
}
