package githubtest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// pull is one pull request.
type pull struct {
	number     int
	id         int64
	repo       *Repository // the base repository
	from       *Repository // of the head; nil if deleted
	head       string      // branch
	headCommit string
	base       string // branch
	baseCommit string // of the base at the last push to the head
	title      string
	body       string
	draft      bool
	author     *user
	labels     []string
	assignees  []*user
	reviewers  []*user
	teams      []string // slugs
	created    time.Time
	updated    time.Time

	closed      *moment // also when merged
	merged      bool
	mergeCommit string
	asked       string // commits for which mergeability was requested

	reviews  []*review
	comments []*comment
	events   []*event
}

// moment is the user and the time of an action.
type moment struct {
	by *user
	at time.Time
}

type review struct {
	id           int64
	author       *user
	state        string // APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED
	body, commit string
	at           time.Time
}

type comment struct {
	id               int64
	repo             *Repository
	number           int
	page             string // pull or issues
	author           *user
	body             string
	created, updated time.Time
	reactions        []*reaction
}

// reaction is an account's reaction to a comment: +1, -1, confused and others.
type reaction struct {
	id      int64
	author  *user
	content string
	at      time.Time
}

type event struct {
	id     int64
	kind   string // closed, reopened, merged, head_ref_deleted, head_ref_force_pushed, …
	by     *user
	at     time.Time
	commit string
}

func (p *pull) open() bool { return p.closed == nil }

func (p *pull) touch() { p.updated = p.repo.s.time() }

func (p *pull) happened(kind string, by *user, commit string) {
	p.touch()
	p.events = append(p.events, &event{id: p.repo.s.next(), kind: kind, by: by, at: p.updated, commit: commit})
}

func (p *pull) close(by *user) {
	p.closed = &moment{by: by, at: p.repo.s.time()}
	p.happened("closed", by, "")
}

func (p *pull) land(by *user, commit string) {
	p.merged, p.mergeCommit = true, commit
	p.happened("merged", by, commit)
	p.close(by)
}

// openPull creates a pull request; the caller has validated it.
func (r *Repository) openPull(by *user, from *Repository, head, base, title string) *pull {
	r.lastNumber++
	p := &pull{
		number: r.lastNumber, id: 90000 + r.s.next(), repo: r, from: from, head: head, headCommit: from.bare.Head(head),
		base: base, baseCommit: r.bare.Head(base), title: title, author: by, created: r.s.time(), updated: r.s.time(),
	}
	r.pulls[p.number] = p
	p.publishHead()
	return p
}

// publishHead writes the head to the base repository, below refs/pull.
func (p *pull) publishHead() {
	ref := fmt.Sprintf("refs/pull/%d/head", p.number)
	p.repo.bare.Take(p.from.bare, p.head, ref)
}

// sorted lists the pull requests by number, oldest first.
func (r *Repository) sorted() []*pull {
	var pulls []*pull
	for _, number := range slices.Sorted(maps.Keys(r.pulls)) {
		pulls = append(pulls, r.pulls[number])
	}
	return pulls
}

// look compares the branches with their last known state, as GitHub does after a
// push, and updates the pull requests of the whole server.
func (r *Repository) look(by *user) {
	heads := r.bare.Heads()
	before := r.bases
	r.bases = heads
	if !maps.Equal(before, heads) {
		r.pushed = r.s.time()
	}
	for _, other := range r.s.repos {
		for _, p := range other.sorted() {
			switch {
			case p.open() && (p.from == r || p.repo == r):
				p.follow(by, r, before, heads)
			case p.from == r && before[p.head] != "" && heads[p.head] == "":
				p.happened("head_ref_deleted", by, "")
			}
		}
	}
}

// follow applies changed branches of a repository to a pull request.
func (p *pull) follow(by *user, moved *Repository, before, now map[string]string) {
	if p.from == moved && p.headMoved(by, now[p.head]) {
		return
	}
	if p.repo != moved || now[p.base] == before[p.base] {
		return
	}
	switch {
	case now[p.base] == "":
		p.close(by)
	case p.repo.bare.Ancestor(p.headCommit, now[p.base]):
		p.land(by, p.headCommit)
	}
}

// headMoved handles a change of the head, and reports whether it closed the pull
// request.
func (p *pull) headMoved(by *user, head string) bool {
	switch {
	case head == "":
		p.close(by)
		p.happened("head_ref_deleted", by, "")
		return true
	case head == p.headCommit:
		return false
	}
	forced := !p.from.bare.Ancestor(p.headCommit, head)
	p.headCommit, p.baseCommit = head, p.repo.bare.Head(p.base)
	p.publishHead()
	p.touch()
	if forced {
		p.happened("head_ref_force_pushed", by, head)
	}
	if p.baseCommit == "" || !p.repo.bare.Ancestor(head, p.baseCommit) {
		return false
	}
	p.close(by) // no commits are left
	return true
}
