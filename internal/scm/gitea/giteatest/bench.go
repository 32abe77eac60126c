package giteatest

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/forgetest"
	"promoter/internal/scm/scmtest"
)

// Bench prepares the repository and the users of the suite, and returns the functions
// that act as them. The forge uses this server with its first token, whose account
// becomes an administrator: Gitea returns permissions only to administrators.
func (r *Repository) Bench(forge scm.Forge) scmtest.Bench {
	var token, self string
	r.s.act(func() { token, self = r.s.first, r.s.tokens[r.s.first].owner.Login })
	r.s.AddSystem(scmtest.Robot)
	for who, permission := range map[string]string{
		self: "admin", scmtest.Ann: "write", scmtest.Bob: "write", scmtest.Eve: "read", scmtest.Robot: "write",
	} {
		r.Settings.Permit(who, permission)
	}
	r.s.SetTeam(scmtest.Team, scmtest.Ann, self)
	r.DetectMerges()
	bench := r.model.Bench(forge, self, func(who string) string { return who })
	bench.People.Label = func(_ *testing.T, who string, number int, label string) { r.Label(who, number, label) }
	bench.People.Draft = func(_ *testing.T, _ string, number int, draft bool) { r.draft(number, draft) }
	bench.People.Check = func(_ *testing.T, who, commit, name, conclusion string) {
		r.SetJob(who, commit, name, conclusion)
	}
	bench.World.Scope = func(*testing.T) { r.s.SetScopes(token, "read:user", "read:repository", "read:issue") }
	bench.World.Revoke = func(*testing.T) { r.s.Revoke(token) }
	bench.World.Protect = func(_ *testing.T, name string) { r.Protect("main", Protection{Checks: []string{name}}) }
	bench.World.Methods = func(_ *testing.T, methods ...string) { r.AllowWays(methods...) }
	bench.World.Fail = func(_ *testing.T, status int) { r.s.Fail("", status, "Something went wrong") }
	bench.World.Limit = func(_ *testing.T, secondary bool, until time.Time) { r.s.Limit(!secondary, until) }
	return bench
}

// SetJob sets the status that Gitea's Actions set for a job with a conclusion. Only the description shows that one was
// canceled.
func (r *Repository) SetJob(who, commit, name, conclusion string) {
	description := "Finished"
	if conclusion == "cancelled" {
		description = "Canceled after 3s"
	}
	r.s.act(func() {
		r.model.AddStatus(forgetest.Status{
			Commit: commit, Context: name, State: concluded(conclusion), Description: description, By: r.model.Hub.User(who),
		})
	})
}

// Unofficial lets the reviews of a user count for no rule of the branch, as a whitelist without them does.
func (r *Repository) Unofficial(who string, number int) {
	r.Pulls.With(who, number, func(p *pull, by *user) {
		for _, one := range p.Reviews {
			one.Official = one.Official && one.Author != by
		}
	})
}

// concluded returns the status that Gitea's Actions set for a job with this
// conclusion: Gitea has no check runs.
func concluded(conclusion string) string {
	states := map[string]string{
		"success": "success", "skipped": "skipped", "neutral": "warning", "in_progress": "pending", "queued": "pending",
	}
	return cmp.Or(states[conclusion], "failure")
}

func (r *Repository) draft(number int, draft bool) {
	title := strings.TrimPrefix(r.Pulls.Get(number).Title, "WIP: ")
	if draft {
		title = "WIP: " + title
	}
	r.Pulls.Edit(number, &title, nil)
}
