package gitlabtest

import (
	"fmt"

	"promoter/internal/git/gittest"
)

// detailed returns the detailed merge status as GitLab computes it, with checks in
// GitLab's order.
// https://docs.gitlab.com/api/merge_requests/#merge-status
func (m *request) detailed() string {
	p := m.project
	base := p.bare.Head(m.target)
	switch {
	case !m.open():
		return "not_open"
	case m.sha == "" || m.from.bare.Head(m.source) == "" || base == "":
		return "commits_status"
	case m.draft():
		return "draft_status"
	case len(m.approvals) < m.wanted():
		return "not_approved"
	}
	for _, state := range m.states {
		if state == "requested_changes" && !p.s.options.Free {
			return "requested_changes"
		}
	}
	if _, clean := p.bare.Merge(base, m.sha); !clean {
		return "conflict"
	}
	if method := p.settings.Method; (method == "ff" || method == "rebase_merge") && !p.settings.AutoRebase && !p.bare.Ancestor(base, m.sha) {
		return "need_rebase"
	}
	return m.pipelineState()
}

// wanted returns how many approvals the rules for the branch require.
func (m *request) wanted() int {
	n := 0
	if m.project.s.options.Free {
		return 0
	}
	for _, rule := range m.project.settings.Rules {
		if rule.about(m.target) {
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

func (m *request) pipelineState() string {
	if !m.project.settings.Pipelines {
		return "mergeable"
	}
	switch m.project.pipelineOf(m.sha) {
	case "success":
		return "mergeable"
	case "running":
		return "ci_still_running"
	}
	return "ci_must_pass"
}

// told returns the status that GitLab reports: the first request after a change gets
// "checking".
func (m *request) told() string {
	if m.open() && m.computing {
		m.computing = false
		return "checking"
	}
	return m.detailed()
}

// merge writes the commits of a merge method to the target. It returns false on a
// conflict.
func (m *request) merge(by *user, method string, squash bool, message, squashMessage string) bool {
	p := m.project
	base := p.bare.Head(m.target)
	landing := gittest.Landing{Base: base, Head: m.sha, By: p.s.author(by), Committer: p.s.author(by)}
	var squashed, merged, tip string
	clean := true
	if squash {
		landing.Message = orElse(squashMessage, m.title)
		squashed, clean = p.bare.Squash(landing)
		landing.Head, tip = squashed, squashed
	}
	switch {
	case !clean:
		return false
	case method == "rebase":
		tip, clean = p.bare.Rebase(landing)
	case method == "ff":
		if tip == "" {
			tip = m.sha
		}
	default:
		landing.Message = orElse(message, fmt.Sprintf("Merge branch '%s' into '%s'\n\n%s\n\nSee merge request %s!%d", m.source, m.target, m.title, p.path, m.iid))
		merged, clean = p.bare.MergeCommit(landing)
		tip = merged
	}
	if !clean {
		return false
	}
	p.bare.Update(m.target, tip, base)
	m.land(by, merged, squashed)
	p.look(by)
	return true
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// asSet merges according to the project's settings.
func (m *request) asSet(by *user, message, squashMessage string) bool {
	settings := m.project.settings
	squash := settings.Squash == "always" || settings.Squash != "never" && m.squash
	method := settings.Method
	if method == "ff" && !squash && settings.AutoRebase && !m.project.bare.Ancestor(m.project.bare.Head(m.target), m.sha) {
		method = "rebase"
	}
	return m.merge(by, method, squash, message, squashMessage)
}
