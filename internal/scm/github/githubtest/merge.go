package githubtest

import (
	"fmt"
	"strings"
)

// The committer of everything that the API commits.
const gitHubName, gitHubEmail = "GitHub", "noreply@github.com"

// state says whether the head can be merged: clean, dirty, blocked, behind or
// draft.
func (p *pull) state() string {
	base := p.repo.head(p.base)
	if _, clean := p.repo.s.git.merge(p.repo.dir, base, p.headCommit); !clean {
		return "dirty"
	}
	switch protection := p.repo.protection[p.base]; {
	case p.draft:
		return "draft"
	case protection.Strict && !p.repo.s.git.ancestor(p.repo.dir, base, p.headCommit):
		return "behind"
	case p.refusal() != "":
		return "blocked"
	}
	return "clean"
}

// mergeable computes late, as GitHub does: who asks first hears nil.
func (p *pull) mergeable() (any, string) {
	if !p.open() {
		return nil, "unknown"
	}
	pair := p.headCommit + p.repo.head(p.base)
	if p.asked != pair {
		p.asked = pair
		return nil, "unknown"
	}
	state := p.state()
	return state != "dirty", state
}

// refusal returns what the branch protection says against a merge, empty when it
// says nothing.
func (p *pull) refusal() string {
	protection := p.repo.protection[p.base]
	for _, context := range protection.Checks {
		switch p.repo.latest(p.headCommit, context) {
		case "success":
		case "failure", "error":
			return fmt.Sprintf("Required status check %q is failing.", context)
		default:
			return fmt.Sprintf("Required status check %q is expected.", context)
		}
	}
	if n := p.approvals(); n < protection.Approvals {
		return fmt.Sprintf("At least %d approving review is required by reviewers with write access.", protection.Approvals)
	}
	if p.repo.queue {
		return "Repository rule violations found\n\nChanges must be made through the merge queue\n\n"
	}
	return ""
}

// approvals counts the people whose last word is an approval.
func (p *pull) approvals() int {
	last := map[string]string{}
	for _, r := range p.reviews {
		if r.state != "COMMENTED" && p.repo.mayPush(r.author) && r.author != p.author {
			last[r.author.login] = r.state
		}
	}
	n := 0
	for _, state := range last {
		if state == "APPROVED" {
			n++
		}
	}
	return n
}

// merge writes the commits of a method onto the base and returns the last one.
// It says false when they conflict.
func (p *pull) merge(by *user, method, title, message string) (string, bool) {
	base := p.repo.head(p.base)
	var commit string
	var ok bool
	switch method {
	case "squash":
		commit, ok = p.squash(by, base, title, message)
	case "rebase":
		commit, ok = p.rebase(base)
	default:
		commit, ok = p.mergeCommitOn(by, base, title, message)
	}
	if !ok {
		return "", false
	}
	p.repo.update(p.base, commit, base)
	p.land(by, commit)
	if p.repo.autoDelete && p.from == p.repo {
		p.repo.s.git.run(p.repo.dir, "update-ref", "-d", "refs/heads/"+p.head)
		p.happened("head_ref_deleted", by, "")
	}
	p.repo.look(by)
	return commit, true
}

func (p *pull) gitHub() author {
	return author{name: gitHubName, email: gitHubEmail, at: p.repo.s.time()}
}

func (p *pull) mergeCommitOn(by *user, base, title, message string) (string, bool) {
	tree, clean := p.repo.s.git.merge(p.repo.dir, base, p.headCommit)
	if !clean {
		return "", false
	}
	if title == "" {
		title = fmt.Sprintf("Merge pull request #%d from %s/%s", p.number, p.from.owner, p.head)
	}
	if message == "" {
		message = p.title
	}
	return p.repo.s.git.commit(p.repo.dir, tree, title+"\n\n"+message, p.repo.s.author(by), p.gitHub(), base, p.headCommit), true
}

func (p *pull) squash(by *user, base, title, message string) (string, bool) {
	tree, clean := p.repo.s.git.merge(p.repo.dir, base, p.headCommit)
	if !clean {
		return "", false
	}
	if title == "" {
		title = fmt.Sprintf("%s (#%d)", p.title, p.number)
	}
	text := strings.TrimSpace(title + "\n\n" + message)
	return p.repo.s.git.commit(p.repo.dir, tree, text, p.repo.s.author(by), p.gitHub(), base), true
}

// rebase writes every commit of the head anew on the base.
func (p *pull) rebase(base string) (string, bool) {
	git, onto := p.repo.s.git, base
	for _, commit := range git.between(p.repo.dir, base, p.headCommit) {
		tree, clean := git.pick(p.repo.dir, commit, onto)
		if !clean {
			return "", false
		}
		message := git.run(p.repo.dir, "log", "-1", "--format=%B", commit)
		who := git.run(p.repo.dir, "log", "-1", "--format=%an%x00%ae", commit)
		name, email, _ := strings.Cut(who, "\x00")
		by := author{name: name, email: email, at: p.repo.s.time()}
		onto = git.commit(p.repo.dir, tree, strings.TrimSpace(message), by, p.gitHub(), onto)
	}
	return onto, true
}
