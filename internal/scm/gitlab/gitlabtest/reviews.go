package gitlabtest

import (
	"slices"

	"promoter/internal/scm/forgetest"
)

// Request is the current state of a merge request.
type Request struct {
	forgetest.PullState
	SquashCommit, State string // State: opened, closed, merged
	Squash              bool
	Approvals           []string
}

// Request returns a merge request; an unknown number fails the test.
func (p *Project) Request(iid int) Request {
	one := Request{PullState: p.Pulls.Get(iid)}
	p.Pulls.With("root", iid, func(m *request, _ *user) {
		one.SquashCommit, one.State, one.Squash = of(m).squashCommit, stateOf(m), of(m).squash
		for _, a := range of(m).approvals {
			one.Approvals = append(one.Approvals, a.By.Login)
		}
	})
	return one
}

// Requests returns all merge requests, oldest first.
func (p *Project) Requests() []Request {
	var all []Request
	for _, one := range p.Pulls.All() {
		all = append(all, p.Request(one.Number))
	}
	return all
}

// The kinds of notes that only GitLab has.
const (
	system   = "system"
	diffNote = "DiffNote" // on a line of the diff
)

func isSystem(n *note) bool { return n.Kind != forgetest.Commented && n.Kind != diffNote }

func withdraw(m *request, by *user) bool {
	before := len(of(m).approvals)
	of(m).approvals = slices.DeleteFunc(of(m).approvals, func(a *forgetest.Moment) bool { return a.By == by })
	return len(of(m).approvals) < before
}

func unapprove(m *request, by *user) {
	if withdraw(m, by) {
		m.Happened(system, by, "unapproved this merge request")
		of(m).states[by] = "unapproved"
	}
}

// Approve approves as who. A second approval requires revoking the first one.
func (p *Project) Approve(who string, iid int) {
	p.Pulls.With(who, iid, func(m *request, by *user) {
		unapprove(m, by)
		m.Happened(system, by, "approved this merge request")
		of(m).approvals = append(of(m).approvals, &forgetest.Moment{By: by, At: m.Updated})
		of(m).states[by] = "approved"
	})
}

// Unapprove revokes an approval.
func (p *Project) Unapprove(who string, iid int) { p.Pulls.With(who, iid, unapprove) }

// RequestChanges submits a review that requests changes.
func (p *Project) RequestChanges(who string, iid int) {
	p.Pulls.With(who, iid, func(m *request, by *user) {
		withdraw(m, by)
		m.Happened(system, by, "requested changes")
		of(m).states[by] = "requested_changes"
	})
}

// AskAgain asks a reviewer for another review.
func (p *Project) AskAgain(who string, iid int) {
	p.Pulls.With(who, iid, func(m *request, by *user) { of(m).states[by] = "unreviewed"; m.Touch() })
}

// Remark writes a note on a line of the diff.
func (p *Project) Remark(who string, iid int, body string) {
	p.Pulls.With(who, iid, func(m *request, by *user) { m.Happened(diffNote, by, body) })
}

// SetDraft marks it as a draft or as ready, which is a prefix of its title.
func (p *Project) SetDraft(iid int, draft bool) {
	p.Pulls.With("root", iid, func(m *request, _ *user) {
		switch {
		case draft && !isDraft(m):
			m.Title = "Draft: " + m.Title
		case !draft:
			m.Title = draftTitle.ReplaceAllString(m.Title, "")
		}
		m.Touch()
	})
}
