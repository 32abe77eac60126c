package gitlabtest

import (
	"fmt"
	"slices"
	"time"
)

// Request is the current state of a merge request.
type Request struct {
	IID                           int
	Title, Description            string
	Source, Target, SHA           string
	MergeCommit, SquashCommit     string
	Author, Closer, Merger, State string
	Squash                        bool
	Labels, Assignees, Reviewers  []string
	Approvals                     []string
	Notes                         []Note // without system notes
	Created, Closed, Merged       time.Time
}

// Note is the current state of a note.
type Note struct{ Author, Body string }

// OpenRequest opens a merge request as who and returns its number.
func (p *Project) OpenRequest(who, source, target, title string) int {
	var iid int
	p.s.act(func() { iid = p.openRequest(p.s.user(who), p, source, target, title).iid })
	return iid
}

// ForkRequest opens a merge request by who from a branch of their fork, with one
// commit on it.
func (p *Project) ForkRequest(who, source, target, title string) int {
	var iid int
	p.s.act(func() {
		by := p.s.user(who)
		fork := p.forkOf(by)
		fork.bare.Take(p.bare, target, "refs/heads/"+source)
		fork.bare.Add(source, "From a fork", p.s.author(by), map[string]string{"fork.txt": source + "\n"})
		fork.look(by)
		iid = p.openRequest(by, fork, source, target, title).iid
	})
	return iid
}

func (p *Project) forkOf(by *user) *Project {
	path := by.name + "/fork-" + itoa(p.id)
	if fork := p.s.projects[p.s.paths[lower(path)]]; fork != nil {
		return fork
	}
	fork := p.s.newProject(path)
	fork.fork, fork.members[by] = p, Owner
	fork.bare.Take(p.bare, "main", "refs/heads/main")
	return fork
}

func (p *Project) must(iid int) *request {
	if m := p.requests[iid]; m != nil {
		return m
	}
	panic(fmt.Errorf("%s has no merge request %d", p.path, iid))
}

// with calls f for a merge request as a user; an unknown number fails the test.
func (p *Project) with(who string, iid int, f func(m *request, by *user)) {
	p.s.act(func() { f(p.must(iid), p.s.user(who)) })
}

// Request returns a merge request; an unknown number fails the test.
func (p *Project) Request(iid int) Request {
	var one Request
	p.s.act(func() { one = p.must(iid).snapshot() })
	return one
}

// Requests returns all merge requests, oldest first.
func (p *Project) Requests() []Request {
	var all []Request
	p.s.act(func() {
		for _, m := range p.sorted() {
			all = append(all, m.snapshot())
		}
	})
	return all
}

func (m *request) snapshot() Request {
	one := Request{
		IID: m.iid, Title: m.title, Description: m.description, Source: m.source, Target: m.target, SHA: m.sha,
		MergeCommit: m.mergeCommit, SquashCommit: m.squashCommit, Author: m.author.name, State: m.state, Squash: m.squash,
		Labels: slices.Clone(m.labels), Assignees: namesOf(m.assignees), Reviewers: namesOf(m.reviewers), Created: m.created,
	}
	if m.closed != nil {
		one.Closer, one.Closed = m.closed.by.name, m.closed.at
	}
	if m.merged != nil {
		one.Merger, one.Merged = m.merged.by.name, m.merged.at
	}
	for _, a := range m.approvals {
		one.Approvals = append(one.Approvals, a.by.name)
	}
	for _, n := range m.notes {
		if !n.system {
			one.Notes = append(one.Notes, Note{Author: n.author.name, Body: n.body})
		}
	}
	return one
}

func namesOf(users []*user) []string {
	var names []string
	for _, u := range users {
		names = append(names, u.name)
	}
	return names
}

// CloseRequest closes a merge request as who.
func (p *Project) CloseRequest(who string, iid int) {
	p.with(who, iid, func(m *request, by *user) { m.close(by) })
}

// ReopenRequest reopens a merge request as who, and restores a deleted branch.
func (p *Project) ReopenRequest(who string, iid int) {
	p.with(who, iid, func(m *request, by *user) {
		if m.from.bare.Head(m.source) == "" {
			m.from.bare.Update(m.source, m.sha, "")
			m.from.look(by)
		}
		m.reopen(by)
		if head := m.from.bare.Head(m.source); head != m.sha {
			m.take(head)
		}
	})
}

// Retarget changes the target branch.
func (p *Project) Retarget(iid int, target string) {
	p.with("root", iid, func(m *request, _ *user) { m.target, m.computing = target, true; m.touch() })
}

// Retitle changes the title as a user.
func (p *Project) Retitle(iid int, title string) {
	p.with("root", iid, func(m *request, _ *user) { m.title = title; m.touch() })
}

// Describe changes the description as a user.
func (p *Project) Describe(iid int, text string) {
	p.with("root", iid, func(m *request, _ *user) { m.description = text; m.touch() })
}

// SetDraft marks it as a draft or as ready, which is a prefix of its title.
func (p *Project) SetDraft(iid int, draft bool) {
	p.with("root", iid, func(m *request, _ *user) {
		switch {
		case draft && !m.draft():
			m.title = "Draft: " + m.title
		case !draft:
			m.title = draftTitle.ReplaceAllString(m.title, "")
		}
		m.touch()
	})
}

// Label adds a label.
func (p *Project) Label(iid int, label string) {
	p.with("root", iid, func(m *request, _ *user) { m.label([]string{label}) })
}

// MergeRequest merges as a user, bypassing all requirements of the project, and
// returns the resulting commit on the target. The method is merge, squash, rebase
// (which GitLab does by itself before a fast-forward), fast-forward (a push of the
// head to the target) or queue.
func (p *Project) MergeRequest(who string, iid int, method string) string {
	var commit string
	p.with(who, iid, func(m *request, by *user) {
		if method == "fast-forward" {
			p.bare.Update(m.target, m.sha, p.bare.Head(m.target))
			p.look(by)
		} else if !m.merge(by, method, method == "squash", "", "") {
			panic(fmt.Errorf("merge request %d conflicts", iid))
		}
		commit = p.bare.Head(m.target)
	})
	return commit
}

// Approve approves as who. A second approval requires revoking the first one.
func (p *Project) Approve(who string, iid int) {
	p.with(who, iid, func(m *request, by *user) { m.unapprove(by); m.approve(by) })
}

// Unapprove revokes an approval.
func (p *Project) Unapprove(who string, iid int) {
	p.with(who, iid, func(m *request, by *user) { m.unapprove(by) })
}

// RequestChanges submits a review that requests changes.
func (p *Project) RequestChanges(who string, iid int) {
	p.with(who, iid, func(m *request, by *user) { m.requestChanges(by) })
}

// AskAgain asks a reviewer for another review.
func (p *Project) AskAgain(who string, iid int) {
	p.with(who, iid, func(m *request, by *user) { m.states[by] = "unreviewed"; m.touch() })
}

// Remark writes a note on a line of the diff.
func (p *Project) Remark(who string, iid int, body string) {
	p.with(who, iid, func(m *request, by *user) { m.write(by, body).kind = "DiffNote" })
}

// Say writes a note.
func (p *Project) Say(who string, iid int, body string) {
	p.with(who, iid, func(m *request, by *user) { m.write(by, body) })
}
