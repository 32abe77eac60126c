package giteatest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// pull is one pull request.
type pull struct {
	number     int
	id         int64
	repo       *Repository // the base repository
	from       *Repository // of the head
	head       string      // branch
	headCommit string      // target of refs/pull/N/head; kept when closed
	base       string      // branch
	title      string
	body       string
	author     *user
	labels     []*label
	assignees  []*user
	reviewers  []*user
	teams      []*team
	created    time.Time
	updated    time.Time

	closed      *moment // also when merged
	merged      bool
	mergeCommit string
	waits       int // merges that are still deferred

	reviews []*review
	events  []*event // the timeline, comments among them
}

// moment is the user and the time of an action.
type moment struct {
	by *user
	at time.Time
}

type review struct {
	id                  int64
	author              *user
	state               string // APPROVED, REQUEST_CHANGES, COMMENT, REQUEST_REVIEW
	commit              string
	official, dismissed bool
	at                  time.Time
}

// event is an entry of the timeline: comment, close, reopen, merge_pull, pull_push,
// change_title and others.
type event struct {
	id               int64
	kind             string
	pull             *pull // nil on an issue
	repo             *Repository
	issue            int // number, of a comment on one
	by               *user
	body             string
	created, updated time.Time
	reactions        []string // each as "CONTENT LOGIN"
}

func (p *pull) open() bool { return p.closed == nil }

// draft reports whether the title marks a draft; there is no other flag.
func (p *pull) draft() bool {
	title := strings.ToUpper(p.title)
	return strings.HasPrefix(title, "WIP:") || strings.HasPrefix(title, "[WIP]")
}

func (p *pull) touch() { p.updated = p.repo.s.time() }

func (p *pull) happened(kind string, by *user, body string) *event {
	p.touch()
	one := &event{id: p.repo.s.next(), kind: kind, pull: p, repo: p.repo, by: by, body: body, created: p.updated, updated: p.updated}
	p.events = append(p.events, one)
	return one
}

func (p *pull) close(by *user) {
	p.closed = &moment{by: by, at: p.happened("close", by, "").created}
}

func (p *pull) land(by *user, commit string) {
	p.merged, p.mergeCommit = true, commit
	p.closed = &moment{by: by, at: p.happened("merge_pull", by, commit).created}
}

// openPull creates a pull request; the caller has validated it.
func (r *Repository) openPull(by *user, from *Repository, head, base, title string) *pull {
	r.lastNumber++
	p := &pull{
		number: r.lastNumber, id: 90000 + r.s.next(), repo: r, from: from, head: head, headCommit: from.bare.Head(head),
		base: base, title: title, author: by, created: r.s.time(), updated: r.s.time(),
	}
	r.pulls[p.number] = p
	p.publishHead()
	return p
}

// ref returns the ref of the head in the base repository.
func (p *pull) ref() string { return fmt.Sprintf("refs/pull/%d/head", p.number) }

func (p *pull) publishHead() {
	p.repo.bare.Take(p.from.bare, p.head, p.ref())
	p.waits = p.repo.late
}

// sorted lists the pull requests by number, oldest first.
func (r *Repository) sorted() []*pull {
	var pulls []*pull
	for _, number := range slices.Sorted(maps.Keys(r.pulls)) {
		pulls = append(pulls, r.pulls[number])
	}
	return pulls
}

// look compares the branches with their last known state, as Gitea does after a push,
// and updates the pull requests of the whole server.
func (r *Repository) look(by *user) {
	heads, before := r.bare.Heads(), r.bases
	if len(before) == 0 && len(heads) > 0 {
		r.settling = 2
	}
	r.bases = heads
	for _, other := range r.s.repos {
		for _, p := range other.sorted() {
			if p.open() && (p.from == r || p.repo == r) {
				p.follow(by, r, before, heads)
			}
		}
	}
}

// follow applies changed branches of a repository to a pull request.
func (p *pull) follow(by *user, moved *Repository, before, now map[string]string) {
	if p.from == moved {
		switch head := now[p.head]; head {
		case "":
			p.close(by)
			p.happened("delete_branch", by, p.head)
			return
		case p.headCommit:
		default:
			p.headCommit = head
			p.publishHead()
			p.happened("pull_push", by, head)
		}
	}
	if p.repo != moved || now[p.base] == before[p.base] {
		return
	}
	p.waits = p.repo.late
	switch {
	case now[p.base] == "":
		p.close(by)
	case p.repo.detect && p.repo.bare.Ancestor(p.headCommit, now[p.base]):
		p.land(by, p.foundAt(now[p.base]))
	}
}

// foundAt returns the commit that Gitea detects as the merge: the first merge commit
// above the head, or the head itself.
func (p *pull) foundAt(base string) string {
	found := strings.Fields(p.repo.bare.Run("rev-list", "--ancestry-path", "--merges", "--reverse", p.headCommit+".."+base))
	if len(found) == 0 {
		return p.headCommit
	}
	return found[0]
}
