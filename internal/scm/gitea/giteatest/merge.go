package giteatest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"promoter/internal/git/gittest"
	"promoter/internal/scm"
	"promoter/internal/scm/forgetest"
)

// progress is the state of Gitea's check for conflicts.
type progress struct{ waits int } // merges that are still deferred

func progressOf(p *pull) *progress { return p.Own.(*progress) }

// isDraft reports whether the title marks a draft; there is no other flag.
func isDraft(p *pull) bool {
	title := strings.ToUpper(p.Title)
	return strings.HasPrefix(title, "WIP:") || strings.HasPrefix(title, "[WIP]")
}

// follow applies changed branches of a repository to a pull request.
func follow(p *pull, push forgetest.Push) {
	repo := own(p.Repo)
	if !p.IsOpen() {
		return
	}
	if p.From == push.To {
		switch head := push.Now[p.Head]; head {
		case "":
			p.Close(push.By)
			p.Happened(forgetest.HeadDeleted, push.By, p.Head)
			return
		case p.HeadCommit:
		default:
			p.HeadCommit = head
			p.Publish()
			if repo.protection[p.Base].DismissStale {
				dismissStale(p)
			}
			progressOf(p).waits = repo.late
			p.Happened(forgetest.HeadPushed, push.By, head)
		}
	}
	base := push.Now[p.Base]
	if p.Repo != push.To || base == push.Before[p.Base] {
		return
	}
	progressOf(p).waits = repo.late
	switch {
	case base == "":
		p.Close(push.By)
	case repo.detect && p.Repo.Bare.Ancestor(p.HeadCommit, base):
		p.Land(push.By, foundAt(p, base))
	}
}

// dismissStale dismisses the approvals of former heads. Once there is another one of the
// same user, they are not official any more; here they are not at once.
func dismissStale(p *pull) {
	for _, one := range p.Reviews {
		if one.State == scm.Approved {
			one.Dismissed, one.Official = true, false
		}
	}
}

// foundAt returns the commit that Gitea detects as the merge: the first merge commit
// above the head, or the head itself.
func foundAt(p *pull, base string) string {
	found := strings.Fields(p.Repo.Bare.Run("rev-list", "--ancestry-path", "--merges", "--reverse", p.HeadCommit+".."+base))
	if len(found) == 0 {
		return p.HeadCommit
	}
	return found[0]
}

// refusal returns why the protection of the branch forbids a merge, empty if it does
// not.
func refusal(p *pull) string {
	protection := own(p.Repo).protection[p.Base]
	switch {
	case !checked(p, protection.Checks):
		return "Not all required status checks successful"
	case votes(p, scm.Approved) < protection.Approvals:
		return "Does not have enough approvals"
	case protection.Rejected && votes(p, scm.ChangesRequested) > 0:
		return "There are requested changes"
	case protection.Requests && len(p.Reviewers)+len(p.Teams) > 0:
		return "There are official review requests"
	case protection.Outdated && !p.Repo.Bare.Ancestor(p.Repo.Bare.Head(p.Base), p.HeadCommit):
		return "The head branch is behind the base branch"
	}
	return ""
}

// checked reports whether every pattern matches a status, and all matching statuses
// have succeeded.
func checked(p *pull, patterns []string) bool {
	for _, pattern := range patterns {
		met := false
		for _, one := range p.Repo.Latest(p.HeadCommit) {
			if ok, _ := path.Match(pattern, one.Context); !ok {
				continue
			}
			if one.State != "success" && one.State != "skipped" && one.State != "warning" {
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

// votes counts the users whose latest decisive review has this state.
func votes(p *pull, state scm.ReviewState) int {
	n := 0
	for _, one := range p.Votes() {
		if one.State == state {
			n++
		}
	}
	return n
}

// allowedToMerge reports whether an account may merge.
func allowedToMerge(p *pull, u *user) bool {
	allowed := own(p.Repo).protection[p.Base].MergeAllowed
	return p.Repo.MayPush(u) && (len(allowed) == 0 || slices.Contains(allowed, u.Login))
}

// mergeAsUser merges with a method of the suite: Gitea has no merge queue, and queue
// is its merge when checks succeed.
func mergeAsUser(p *pull, by *user, method string) (string, bool) {
	if method == "queue" {
		method = "squash"
	}
	return merge(p, by, method, "")
}

// merge writes the commits of a merge method to the base and returns the last one. It
// returns false on a conflict.
func merge(p *pull, by *user, way, text string) (string, bool) {
	hub, bare := p.Repo.Hub, p.Repo.Bare
	base := bare.Head(p.Base)
	landing := gittest.Landing{Base: base, Head: p.HeadCommit, Message: text, By: hub.Author(by), Committer: hub.Author(by)}
	if text == "" {
		landing.Message = fmt.Sprintf("Merge pull request '%s' (#%d) from %s into %s", p.Title, p.Number, p.Head, p.Base)
	}
	var commit string
	clean := true
	switch way {
	case "squash":
		if text == "" {
			landing.Message = fmt.Sprintf("%s (#%d)", p.Title, p.Number)
		}
		landing.By = hub.Author(p.Author)
		commit, clean = bare.Squash(landing)
	case "rebase", "rebase-merge":
		commit = p.HeadCommit // Git skips commits that are already on the base
		if !bare.Ancestor(base, p.HeadCommit) {
			commit, clean = bare.Rebase(landing)
		}
		if clean && way == "rebase-merge" {
			landing.Head = commit
			commit, clean = bare.MergeCommit(landing)
		}
	case "fast-forward-only":
		commit = p.HeadCommit
	default:
		commit, clean = bare.MergeCommit(landing)
	}
	if clean {
		p.Landed(by, commit)
	}
	return commit, clean
}
