package githubtest

import (
	"maps"
	"testing"
	"time"

	"promoter/internal/health"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
)

// Self is the account of the token of the adapter under test.
const Self = "promoter-bot"

// Bench returns the repository with the users of the suite. The forge is the adapter
// under test, with a token of Self.
func (r *Repository) Bench(forge scm.Forge) scmtest.Bench {
	for who, permission := range map[string]string{
		Self: "write", scmtest.Ann: "write", scmtest.Bob: "write", scmtest.Eve: "read", scmtest.Robot: "write",
	} {
		r.Settings.Permit(login(who), permission)
	}
	r.s.SetTeam(scmtest.Team, scmtest.Ann)
	bench := r.model.Bench(forge, Self, login)
	bench.Deployment = map[string]health.Status{
		"success": health.Healthy, "failure": health.Degraded, "error": health.Degraded, "inactive": health.Missing,
		"queued": health.Progressing, "pending": health.Progressing, "in_progress": health.Progressing,
	}
	bench.People.Draft = func(_ *testing.T, _ string, number int, draft bool) {
		r.Pulls.With(scmtest.Ann, number, func(p *pull, _ *user) { of(p).draft = draft; p.Touch() })
	}
	bench.People.Check = func(_ *testing.T, who, commit, name, conclusion string) {
		r.SetCheckRun(login(who), commit, name, conclusion)
	}
	bench.World.Scope = func(*testing.T) {
		r.Settings.SetPrivate(false)
		r.s.eachToken(Self, func(text string) { r.s.SetScopes(text, "read:org") })
	}
	bench.World.Revoke = func(*testing.T) { r.s.eachToken(Self, r.s.Revoke) }
	bench.World.Protect = func(_ *testing.T, name string) {
		r.Protect("main", Protection{Demands: Demands{Checks: []string{name}}})
	}
	bench.World.Queue = func(*testing.T) { r.RequireQueue() }
	bench.World.Methods = func(_ *testing.T, methods ...string) { r.AllowMethods(methods...) }
	bench.World.Fail = func(_ *testing.T, status int) { r.s.Fail("", status, "Something went wrong") }
	bench.World.Limit = func(_ *testing.T, secondary bool, until time.Time) { r.s.Limit(secondary, until) }
	return bench
}

// login returns the account for a name of the suite.
func login(who string) string {
	if who == scmtest.Robot {
		return who + "[bot]"
	}
	return who
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
