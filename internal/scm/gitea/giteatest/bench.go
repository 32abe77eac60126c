package giteatest

import (
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
//
// Gitea has no merge queue, and "queue" is its merge when checks succeed.
func (r *Repository) Bench(forge scm.Forge) scmtest.Bench {
	b := &bench{Repository: r}
	r.s.act(func() { b.token, b.self = r.s.first, r.s.tokens[r.s.first].owner.login })
	r.s.AddSystem(scmtest.Robot)
	for who, permission := range map[string]string{
		b.self: "admin", scmtest.Ann: "write", scmtest.Bob: "write", scmtest.Eve: "read", scmtest.Robot: "write",
	} {
		r.Permit(who, permission)
	}
	r.s.SetTeam(scmtest.Team, scmtest.Ann, b.self)
	r.DetectMerges()
	return scmtest.Bench{Forge: forge, Name: r.FullName(), Git: b.Git.Hands(b.self), People: b.people(), World: b.world()}
}

// bench is a repository with the account under test.
type bench struct {
	*Repository
	token, self string
}

func (b *bench) people() scmtest.People {
	return scmtest.People{
		Open:  func(_ *testing.T, who, head, base, title string) int { return b.OpenPull(who, head, base, title) },
		Fork:  func(_ *testing.T, who, head, base string) int { return b.ForkPull(who, head, base, "From a fork") },
		Close: func(_ *testing.T, who string, number int) { b.ClosePull(who, number) },
		Merge: func(_ *testing.T, who string, number int, method string) string {
			return b.MergePull(who, number, method)
		},
		Reopen:   func(_ *testing.T, who string, number int) { b.ReopenPull(who, number) },
		Retarget: func(_ *testing.T, _ string, number int, base string) { b.Repository.Retarget(number, base) },
		Draft:    func(_ *testing.T, _ string, number int, draft bool) { b.draft(number, draft) },
		Retitle:  func(_ *testing.T, _ string, number int, title string) { b.EditPull(number, &title, nil) },
		Label:    func(_ *testing.T, _ string, number int, label string) { b.LabelPull(number, label) },
		Review: func(_ *testing.T, who string, number int, state scm.ReviewState) {
			words := map[scm.ReviewState]string{scm.Approved: "APPROVED", scm.ChangesRequested: "REQUEST_CHANGES", scm.Commented: "COMMENT"}
			b.Repository.Review(who, number, words[state])
		},
		Dismiss:   func(_ *testing.T, who string, number int) { b.DismissReviews(who, number) },
		Comment:   func(_ *testing.T, who string, number int, body string) { b.Repository.Comment(who, number, body) },
		Reword:    func(_ *testing.T, comment scm.Comment, body string) { b.Repository.Reword(comment.ID, body) },
		Unsay:     func(_ *testing.T, comment scm.Comment) { b.Repository.Unsay(comment.ID) },
		Ask:       func(_ *testing.T, who, body string) { b.Repository.Ask(who, body) },
		Reactions: func(_ *testing.T, comment scm.Comment) []string { return b.Repository.Reactions(comment.ID) },
		Status: func(_ *testing.T, who, commit, name string, state scm.CheckState) {
			words := map[scm.CheckState]string{scm.CheckPassed: "success", scm.CheckPending: "pending", scm.CheckFailed: "failure"}
			b.SetStatus(who, commit, name, words[state])
		},
		Check: func(_ *testing.T, who, commit, name, conclusion string) {
			b.SetStatus(who, commit, name, concluded(conclusion))
		},
		Release: func(_ *testing.T, one scmtest.Release) {
			b.AddRelease(scmtest.Ann, one.Tag, one.Published, one.Draft, one.Prerelease)
		},
	}
}

// concluded returns the status that Gitea's Actions set for a job with this
// conclusion: Gitea has no check runs.
func concluded(conclusion string) string {
	switch conclusion {
	case "success", "skipped":
		return conclusion
	case "neutral":
		return "warning"
	case "in_progress", "queued":
		return "pending"
	}
	return "failure"
}

func (b *bench) draft(number int, draft bool) {
	title := strings.TrimPrefix(b.Pull(number).Title, "WIP: ")
	if draft {
		title = "WIP: " + title
	}
	b.EditPull(number, &title, nil)
}

func (b *bench) world() scmtest.World {
	return scmtest.World{
		Rename:   func(*testing.T) string { b.Repository.Rename("moved"); return b.FullName() },
		Archive:  func(*testing.T) { b.SetArchived(true) },
		Remove:   func(*testing.T) { b.Repository.Remove() },
		Permit:   func(_ *testing.T, who, permission string) { b.Repository.Permit(who, permission) },
		ReadOnly: func(*testing.T) { b.Repository.Permit(b.self, "read") },
		Scope:    func(*testing.T) { b.s.SetScopes(b.token, "read:user", "read:repository", "read:issue") },
		Revoke:   func(*testing.T) { b.s.Revoke(b.token) },
		Protect:  func(_ *testing.T, name string) { b.Repository.Protect("main", Protection{Checks: []string{name}}) },
		Methods:  func(_ *testing.T, methods ...string) { b.AllowWays(methods...) },
		Lose:     func(*testing.T) { b.s.Traffic.Lose(forgetest.AnyWrite) },
		Fail:     func(_ *testing.T, status int) { b.s.Fail("", status, "Something went wrong") },
		Limit:    func(_ *testing.T, secondary bool, until time.Time) { b.s.Limit(!secondary, until) },
		Requests: b.s.Traffic.Total,
	}
}
