package githubtest

import (
	"fmt"
	"strings"

	"promoter/internal/git/gittest"
)

// The committer of everything that the API commits.
const gitHubName, gitHubEmail = "GitHub", "noreply@github.com"

// state returns the mergeability of the head: clean, dirty, blocked, behind or draft.
func (p *pull) state() string {
	base := p.repo.bare.Head(p.base)
	if _, clean := p.repo.bare.Merge(base, p.headCommit); !clean {
		return "dirty"
	}
	switch {
	case p.draft:
		return "draft"
	case p.strict() && !p.repo.bare.Ancestor(base, p.headCommit):
		return "behind"
	case p.refusal(nil) != "":
		return "blocked"
	}
	return "clean"
}

// mergeable is computed lazily, as on GitHub: the first request gets nil.
func (p *pull) mergeable() (any, string) {
	if !p.open() {
		return nil, "unknown"
	}
	pair := p.headCommit + p.repo.bare.Head(p.base)
	if p.asked != pair {
		p.asked = pair
		return nil, "unknown"
	}
	state := p.state()
	return state != "dirty", state
}

// merge writes the commits of a merge method to the base and returns the last one. It
// returns false on a conflict.
func (p *pull) merge(by *user, method, title, message string) (string, bool) {
	base := p.repo.bare.Head(p.base)
	landing := gittest.Landing{
		Base: base, Head: p.headCommit, By: p.repo.s.author(by),
		Committer: gittest.Author{Name: gitHubName, Email: gitHubEmail, At: p.repo.s.time()},
	}
	land := p.repo.bare.MergeCommit
	switch method {
	case "squash":
		land, landing.Message = p.repo.bare.Squash, p.squashed(title, message)
	case "rebase":
		land = p.repo.bare.Rebase
	default:
		landing.Message = p.joined(title, message)
	}
	commit, ok := land(landing)
	if !ok {
		return "", false
	}
	p.repo.bare.Update(p.base, commit, base)
	p.land(by, commit)
	if p.repo.autoDelete && p.from == p.repo {
		p.repo.bare.Delete(p.head)
	}
	p.repo.look(by)
	return commit, true
}

// joined returns the message of a merge commit.
func (p *pull) joined(title, message string) string {
	if title == "" {
		title = fmt.Sprintf("Merge pull request #%d from %s/%s", p.number, p.from.owner, p.head)
	}
	if message == "" {
		message = p.title
	}
	return title + "\n\n" + message
}

// squashed returns the message of a squash commit.
func (p *pull) squashed(title, message string) string {
	if title == "" {
		title = fmt.Sprintf("%s (#%d)", p.title, p.number)
	}
	return strings.TrimSpace(title + "\n\n" + message)
}
