package giteatest

import (
	"fmt"
	"path"
	"slices"

	"promoter/internal/git/gittest"
)

// refusal returns why the protection of the branch forbids a merge, empty if it does
// not.
func (p *pull) refusal() string {
	protection := p.repo.protection[p.base]
	switch {
	case !p.checked(protection.Checks):
		return "Not all required status checks successful"
	case p.approvals() < protection.Approvals:
		return "Does not have enough approvals"
	case protection.Rejected && p.rejected():
		return "There are requested changes"
	case protection.Requests && len(p.reviewers)+len(p.teams) > 0:
		return "There are official review requests"
	case protection.Outdated && !p.repo.bare.Ancestor(p.repo.bare.Head(p.base), p.headCommit):
		return "The head branch is behind the base branch"
	}
	return ""
}

// checked reports whether every pattern matches a status, and all matching statuses
// have succeeded.
func (p *pull) checked(patterns []string) bool {
	for _, pattern := range patterns {
		met := false
		for _, one := range p.repo.latest(p.headCommit) {
			if ok, _ := path.Match(pattern, one.context); !ok {
				continue
			}
			if one.state != "success" && one.state != "skipped" && one.state != "warning" {
				return false
			}
			met = true
		}
		if !met {
			return false
		}
	}
	return true
}

// votes returns the latest decisive review of each user.
func (p *pull) votes() map[string]*review {
	last := map[string]*review{}
	for _, one := range p.reviews {
		if (one.state == "APPROVED" || one.state == "REQUEST_CHANGES") && one.official && !one.dismissed {
			last[one.author.login] = one
		}
	}
	return last
}

func (p *pull) approvals() int {
	n := 0
	for _, one := range p.votes() {
		if one.state == "APPROVED" {
			n++
		}
	}
	return n
}

func (p *pull) rejected() bool {
	for _, one := range p.votes() {
		if one.state == "REQUEST_CHANGES" {
			return true
		}
	}
	return false
}

// allowedToMerge reports whether an account may merge.
func (p *pull) allowedToMerge(u *user) bool {
	allowed := p.repo.protection[p.base].MergeAllowed
	return p.repo.mayPush(u) && (len(allowed) == 0 || slices.Contains(allowed, u.login))
}

// merge writes the commits of a merge method to the base and returns the last one. It
// returns false on a conflict.
func (p *pull) merge(by *user, way, text string) (string, bool) {
	bare, base := p.repo.bare, p.repo.bare.Head(p.base)
	landing := gittest.Landing{Base: base, Head: p.headCommit, Message: text, By: p.repo.s.author(by), Committer: p.repo.s.author(by)}
	if text == "" {
		landing.Message = fmt.Sprintf("Merge pull request '%s' (#%d) from %s into %s", p.title, p.number, p.head, p.base)
	}
	var commit string
	clean := true
	switch way {
	case "squash":
		if text == "" {
			landing.Message = fmt.Sprintf("%s (#%d)", p.title, p.number)
		}
		landing.By = p.repo.s.author(p.author)
		commit, clean = bare.Squash(landing)
	case "rebase", "rebase-merge":
		commit = p.headCommit // Git skips commits that are already on the base
		if !bare.Ancestor(base, p.headCommit) {
			commit, clean = bare.Rebase(landing)
		}
		if clean && way == "rebase-merge" {
			landing.Head = commit
			commit, clean = bare.MergeCommit(landing)
		}
	case "fast-forward-only":
		commit = p.headCommit
	default:
		commit, clean = bare.MergeCommit(landing)
	}
	if !clean {
		return "", false
	}
	bare.Update(p.base, commit, base)
	p.land(by, commit)
	if p.repo.autoDelete && p.from == p.repo {
		bare.Delete(p.head)
	}
	p.repo.look(by)
	return commit, true
}
