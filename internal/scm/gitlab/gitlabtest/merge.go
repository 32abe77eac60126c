package gitlabtest

import (
	"fmt"
	"regexp"
	"time"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/forgetest"
)

// details is what only GitLab has of a merge request.
type details struct {
	squash       bool
	squashCommit string
	states       map[*user]string // of reviews
	approvals    []*forgetest.Moment
	versions     []*version
	computing    bool   // mergeability was not computed yet
	locked       bool   // GitLab is merging it
	mergeError   string // of the last merge
	merging      string // result of the merge that a pipeline ran on
	lag          int    // responses that still have the head before the last push
}

type version struct {
	id   int64
	head string
	at   time.Time
}

func of(m *request) *details { return m.Own.(*details) }

var draftTitle = regexp.MustCompile(`(?i)^(draft:|\[draft\]|\(draft\))`)

func isDraft(m *request) bool { return draftTitle.MatchString(m.Title) }

// stateOf returns GitLab's name for the state.
func stateOf(m *request) string {
	switch {
	case m.Merged:
		return "merged"
	case m.IsOpen() && of(m).locked:
		return "locked"
	case m.IsOpen():
		return "opened"
	}
	return "closed"
}

// take makes a commit the head, as a new version.
func take(m *request, head string) {
	hub := m.Repo.Hub
	m.HeadCommit = head
	of(m).versions = append(of(m).versions, &version{id: hub.NextID(), head: head, at: hub.Now()})
	m.Publish()
	m.Repo.Bare.Run("update-ref", "refs/keep-around/"+head, head)
	of(m).computing = true
	m.Touch()
}

// refresh applies what was pushed to the source branch.
func refresh(m *request, by *user) {
	take(m, m.From.Bare.Head(m.Head))
	m.Happened(forgetest.HeadPushed, by, "")
	if own(m.Repo).settings.ResetApprovals {
		of(m).approvals = nil
	}
}

// seen counts a response about the merge request.
func seen(m *request) {
	if of(m).lag == 0 {
		return
	}
	if of(m).lag--; of(m).lag == 0 && m.IsOpen() && m.From.Bare.Head(m.Head) != "" {
		refresh(m, m.Author)
	}
}

// follow applies changed branches of a project to a merge request.
func follow(m *request, push forgetest.Push) {
	if !m.IsOpen() {
		return
	}
	if m.From == push.To && push.Now[m.Head] != m.HeadCommit {
		if push.Now[m.Head] == "" {
			m.Close(push.By)
			return
		}
		if of(m).lag = own(m.Repo).lag; of(m).lag == 0 {
			refresh(m, push.By)
		}
	}
	base := push.Now[m.Base]
	if m.Repo != push.To || base == push.Before[m.Base] {
		return
	}
	of(m).computing = true
	if base != "" && m.HeadCommit != "" && m.Repo.Bare.Ancestor(m.HeadCommit, base) {
		m.Land(push.By, m.HeadCommit)
	}
}

// mergeAsUser merges with a method of the suite. GitLab itself rebases before a
// fast-forward.
func mergeAsUser(m *request, by *user, method string) (string, bool) {
	clean := merge(m, by, method, method == "squash", "", "")
	return m.Repo.Bare.Head(m.Base), clean
}

// detailed returns the detailed merge status as GitLab computes it, with checks in
// GitLab's order.
// https://docs.gitlab.com/api/merge_requests/#merge-status
func detailed(m *request) string {
	p := own(m.Repo)
	base := p.model.Bare.Head(m.Base)
	switch {
	case !m.IsOpen():
		return "not_open"
	case m.HeadCommit == "" || m.From.Bare.Head(m.Head) == "" || base == "":
		return "commits_status"
	case isDraft(m):
		return "draft_status"
	case len(of(m).approvals) < wanted(m):
		return "not_approved"
	}
	for _, state := range of(m).states {
		if state == "requested_changes" && !p.s.options.Free {
			return "requested_changes"
		}
	}
	if _, clean := p.model.Bare.Merge(base, m.HeadCommit); !clean {
		return "conflict"
	}
	if method := p.settings.Method; (method == "ff" || method == "rebase_merge") && !p.settings.AutoRebase && !p.model.Bare.Ancestor(base, m.HeadCommit) {
		return "need_rebase"
	}
	return pipelineState(m)
}

// wanted returns how many approvals the rules for the branch require.
func wanted(m *request) int {
	n := 0
	if own(m.Repo).s.options.Free {
		return 0
	}
	for _, rule := range own(m.Repo).settings.Rules {
		if rule.Type != "report_approver" && rule.about(m.Base) {
			n = max(n, rule.Required)
		}
	}
	return n
}

func (r ApprovalRule) about(branch string) bool {
	for _, one := range r.Branches {
		if one == branch {
			return true
		}
	}
	return len(r.Branches) == 0
}

func pipelineState(m *request) string {
	if !own(m.Repo).settings.Pipelines {
		return "mergeable"
	}
	switch stateOfPipeline(own(m.Repo), headPipeline(m)) {
	case "success":
		return "mergeable"
	case "running":
		return "ci_still_running"
	}
	return "ci_must_pass"
}

// reported returns the status that GitLab reports: the first request after a change gets
// "checking".
func reported(m *request) string {
	if m.IsOpen() && of(m).computing {
		of(m).computing = false
		return "checking"
	}
	return detailed(m)
}

// merge writes the commits of a merge method to the target. It returns false on a
// conflict.
func merge(m *request, by *user, method string, squash bool, message, squashMessage string) bool {
	p := own(m.Repo)
	base := p.model.Bare.Head(m.Base)
	landing := gittest.Landing{Base: base, Head: m.HeadCommit, By: m.Repo.Hub.Author(by), Committer: m.Repo.Hub.Author(by)}
	var squashed, merged, tip string
	clean := true
	if squash {
		landing.Message = orElse(squashMessage, m.Title)
		squashed, clean = p.model.Bare.Squash(landing)
		landing.Head, tip = squashed, squashed
	}
	switch {
	case !clean:
		return false
	case method == "rebase":
		tip, clean = p.model.Bare.Rebase(landing)
	case method == "ff":
		if tip == "" {
			tip = m.HeadCommit
		}
	default:
		landing.Message = orElse(message, fmt.Sprintf("Merge branch '%s' into '%s'\n\n%s\n\nSee merge request %s!%d", m.Head, m.Base, m.Title, m.Repo.FullName(), m.Number))
		merged, clean = p.model.Bare.MergeCommit(landing)
		tip = merged
	}
	if !clean {
		return false
	}
	m.Landed(by, tip)
	m.MergeCommit, of(m).squashCommit = merged, squashed
	return true
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// mergeAsSet merges according to the project's settings.
func mergeAsSet(m *request, by *user, message, squashMessage string) bool {
	settings := own(m.Repo).settings
	squash := settings.Squash == "always" || settings.Squash != "never" && of(m).squash
	method := settings.Method
	if method == "ff" && !squash && settings.AutoRebase && !m.Repo.Bare.Ancestor(m.Repo.Bare.Head(m.Base), m.HeadCommit) {
		method = "rebase"
	}
	return merge(m, by, method, squash, message, squashMessage)
}
