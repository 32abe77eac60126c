package githubtest

import (
	"fmt"
	"strings"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/forgetest"
)

// details is what only GitHub has of a pull request.
type details struct {
	draft      bool
	resolved   bool   // all conversations are
	baseCommit string // of the base at the last push to the head
	asked      string // commits for which mergeability was requested
}

func of(p *pull) *details { return p.Own.(*details) }

// follow applies changed branches of a repository to a pull request.
func follow(p *pull, push forgetest.Push) {
	if !p.IsOpen() {
		if p.From == push.To && push.Before[p.Head] != "" && push.Now[p.Head] == "" {
			p.Happened(forgetest.HeadDeleted, push.By, "")
		}
		return
	}
	if p.From == push.To && headMoved(p, push.By, push.Now[p.Head]) {
		return
	}
	base := push.Now[p.Base]
	if p.Repo != push.To || base == push.Before[p.Base] {
		return
	}
	switch {
	case base == "":
		p.Close(push.By)
	case p.Repo.Bare.Ancestor(p.HeadCommit, base):
		p.Land(push.By, p.HeadCommit)
	}
}

// headMoved handles a change of the head, and reports whether it closed the pull
// request.
func headMoved(p *pull, by *user, head string) bool {
	switch {
	case head == "":
		p.Close(by)
		p.Happened(forgetest.HeadDeleted, by, "")
		return true
	case head == p.HeadCommit:
		return false
	}
	forced, base := !p.From.Bare.Ancestor(p.HeadCommit, head), p.Repo.Bare.Head(p.Base)
	p.HeadCommit, of(p).baseCommit = head, base
	p.Publish()
	p.Touch()
	if forced {
		p.Happened(forgetest.HeadPushed, by, head)
	}
	if base == "" || !p.Repo.Bare.Ancestor(head, base) {
		return false
	}
	p.Close(by) // no commits are left
	return true
}

// mergeAsUser merges with a method of the suite: the queue merges by the method of the
// repository, as a bot.
func mergeAsUser(p *pull, by *user, method string) (string, bool) {
	if method == "queue" {
		by, method = p.Repo.Hub.User("github-merge-queue[bot]"), "squash"
	}
	return merge(p, by, method, "", "")
}

// The committer of everything that the API commits.
const gitHubName, gitHubEmail = "GitHub", "noreply@github.com"

// stateOf returns the mergeability of the head: clean, dirty, blocked, behind or draft.
func stateOf(p *pull) string {
	base := p.Repo.Bare.Head(p.Base)
	if _, clean := p.Repo.Bare.Merge(base, p.HeadCommit); !clean {
		return "dirty"
	}
	switch {
	case of(p).draft:
		return "draft"
	case strict(p) && !p.Repo.Bare.Ancestor(base, p.HeadCommit):
		return "behind"
	case refusal(p, nil) != "":
		return "blocked"
	}
	return "clean"
}

// mergeable is computed lazily, as on GitHub: the first request gets nil.
func mergeable(p *pull) (any, string) {
	if !p.IsOpen() {
		return nil, "unknown"
	}
	pair := p.HeadCommit + p.Repo.Bare.Head(p.Base)
	if of(p).asked != pair {
		of(p).asked = pair
		return nil, "unknown"
	}
	state := stateOf(p)
	return state != "dirty", state
}

// merge writes the commits of a merge method to the base and returns the last one. It
// returns false on a conflict.
func merge(p *pull, by *user, method, title, message string) (string, bool) {
	base := p.Repo.Bare.Head(p.Base)
	landing := gittest.Landing{
		Base: base, Head: p.HeadCommit, By: p.Repo.Hub.Author(by),
		Committer: gittest.Author{Name: gitHubName, Email: gitHubEmail, At: p.Repo.Hub.Now()},
	}
	land := p.Repo.Bare.MergeCommit
	switch method {
	case "squash":
		land, landing.Message = p.Repo.Bare.Squash, squashed(p, title, message)
	case "rebase":
		land = p.Repo.Bare.Rebase
	default:
		landing.Message = joined(p, title, message)
	}
	commit, ok := land(landing)
	if !ok {
		return "", false
	}
	p.Landed(by, commit)
	return commit, true
}

// joined returns the message of a merge commit.
func joined(p *pull, title, message string) string {
	if title == "" {
		title = fmt.Sprintf("Merge pull request #%d from %s/%s", p.Number, p.From.Owner, p.Head)
	}
	if message == "" {
		message = p.Title
	}
	return title + "\n\n" + message
}

// squashed returns the message of a squash commit.
func squashed(p *pull, title, message string) string {
	if title == "" {
		title = fmt.Sprintf("%s (#%d)", p.Title, p.Number)
	}
	return strings.TrimSpace(title + "\n\n" + message)
}
