package gitlabtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"
)

// request is one merge request.
type request struct {
	iid, id     int
	project     *Project // of the target
	from        *Project // of the source
	source      string   // branch
	target      string   // branch
	sha         string
	title       string
	description string
	author      *user
	labels      []string
	assignees   []*user
	reviewers   []*user
	states      map[*user]string // of reviews
	squash      bool
	created     time.Time
	updated     time.Time

	state        string // opened, closed, merged
	closed       *moment
	merged       *moment
	mergeCommit  string
	squashCommit string
	computing    bool // mergeability was not computed yet
	lag          int  // responses that still have the head before the last push

	approvals []*approval
	versions  []*version
	notes     []*note
}

// moment is the user and the time of an action.
type moment struct {
	by *user
	at time.Time
}

type approval struct {
	by *user
	at time.Time
}

type version struct {
	id   int
	head string
	at   time.Time
}

type note struct {
	id               int
	kind             string // DiffNote, or empty
	author           *user
	body             string
	system           bool
	created, updated time.Time
	awards           []*award
}

// award is an account's emoji on a note.
type award struct {
	id   int
	name string
	by   *user
	at   time.Time
}

var draftTitle = regexp.MustCompile(`(?i)^(draft:|\[draft\]|\(draft\))`)

func (m *request) draft() bool { return draftTitle.MatchString(m.title) }

func (m *request) open() bool { return m.state == "opened" }

func (m *request) touch() { m.updated = m.project.s.time() }

// said writes a system note.
func (m *request) said(by *user, body string) {
	m.write(by, body).system = true
}

func (m *request) write(by *user, body string) *note {
	m.touch()
	n := &note{id: m.project.s.next(), author: by, body: body, created: m.updated, updated: m.updated}
	m.notes = append(m.notes, n)
	return n
}

func (m *request) close(by *user) {
	m.said(by, "closed")
	m.state, m.closed = "closed", &moment{by: by, at: m.updated}
}

func (m *request) reopen(by *user) {
	m.said(by, "reopened")
	m.state, m.closed = "opened", nil
}

func (m *request) land(by *user, mergeCommit, squashCommit string) {
	m.said(by, "merged")
	m.state, m.merged = "merged", &moment{by: by, at: m.updated}
	m.mergeCommit, m.squashCommit = mergeCommit, squashCommit
}

func (m *request) approvalOf(by *user) int {
	return slices.IndexFunc(m.approvals, func(a *approval) bool { return a.by == by })
}

func (m *request) approve(by *user) {
	if m.approvalOf(by) >= 0 {
		return // GitLab rejects a second one
	}
	m.said(by, "approved this merge request")
	m.approvals = append(m.approvals, &approval{by: by, at: m.updated})
	m.states[by] = "approved"
}

func (m *request) unapprove(by *user) {
	if i := m.approvalOf(by); i >= 0 {
		m.approvals = slices.Delete(m.approvals, i, i+1)
		m.said(by, "unapproved this merge request")
		m.states[by] = "unapproved"
	}
}

func (m *request) requestChanges(by *user) {
	if i := m.approvalOf(by); i >= 0 {
		m.approvals = slices.Delete(m.approvals, i, i+1)
	}
	m.said(by, "requested changes")
	m.states[by] = "requested_changes"
}

// openRequest creates a merge request; the caller has validated it. From a branch
// that does not exist it has no head.
func (p *Project) openRequest(by *user, from *Project, source, target, title string) *request {
	p.lastIID++
	m := &request{
		iid: p.lastIID, id: 90000 + p.s.next(), project: p, from: from, source: source, target: target, title: title, author: by,
		created: p.s.time(), updated: p.s.time(), state: "opened", states: map[*user]string{}, squash: p.settings.Squash == "default_on",
	}
	p.requests[m.iid] = m
	if head := from.bare.Head(source); head != "" {
		m.take(head)
	}
	return m
}

// take makes a commit the head, as a new version.
func (m *request) take(head string) {
	m.sha = head
	m.versions = append(m.versions, &version{id: m.project.s.next(), head: head, at: m.project.s.time()})
	m.project.bare.Take(m.from.bare, m.source, fmt.Sprintf("refs/merge-requests/%d/head", m.iid))
	m.project.bare.Run("update-ref", "refs/keep-around/"+head, head)
	m.computing = true
	m.touch()
}

// sorted lists the merge requests by number, oldest first.
func (p *Project) sorted() []*request {
	var all []*request
	for _, iid := range slices.Sorted(maps.Keys(p.requests)) {
		all = append(all, p.requests[iid])
	}
	return all
}

// look compares the branches with their last known state, as GitLab does after a
// push, and updates the merge requests of the whole server.
func (p *Project) look(by *user) {
	heads, before := p.bare.Heads(), p.heads
	p.heads = heads
	for _, id := range slices.Sorted(maps.Keys(p.s.projects)) {
		for _, m := range p.s.projects[id].sorted() {
			if m.open() {
				m.follow(by, p, before, heads)
			}
		}
	}
}

// refresh applies what was pushed to the source branch.
func (m *request) refresh(by *user) {
	m.take(m.from.bare.Head(m.source))
	m.said(by, "added 1 commit")
	if m.project.settings.ResetApprovals {
		m.approvals = nil
	}
}

// seen counts a response about the merge request.
func (m *request) seen() {
	if m.lag == 0 {
		return
	}
	if m.lag--; m.lag == 0 && m.open() && m.from.bare.Head(m.source) != "" {
		m.refresh(m.author)
	}
}

// follow applies changed branches of a project to a merge request.
func (m *request) follow(by *user, moved *Project, before, now map[string]string) {
	if m.from == moved && now[m.source] != m.sha {
		if now[m.source] == "" {
			m.close(by)
			return
		}
		if m.lag = m.project.lag; m.lag == 0 {
			m.refresh(by)
		}
	}
	base := now[m.target]
	if m.project != moved || base == before[m.target] {
		return
	}
	m.computing = true
	if base != "" && m.sha != "" && m.project.bare.Ancestor(m.sha, base) {
		m.land(by, m.sha, "")
	}
}
