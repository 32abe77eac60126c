package githubtest

import (
	"fmt"
	"slices"
	"time"
)

// Pull is the current state of a pull request.
type Pull struct {
	Number                  int
	Title, Body, Head, Base string
	HeadCommit, MergeCommit string
	Author, Closer          string
	Open, Merged, Draft     bool
	Labels, Assignees       []string
	Reviewers, Teams        []string
	Comments                []Comment
	Created, Closed         time.Time
}

// Comment is the current state of a comment.
type Comment struct{ Author, Body string }

// OpenPull opens a pull request as who and returns its number.
func (r *Repository) OpenPull(who, head, base, title string) int {
	var number int
	r.s.act(func() { number = r.openPull(r.s.user(who), r, head, base, title).number })
	return number
}

// ForkPull opens a pull request by who from a branch of their fork, with one commit
// on it.
func (r *Repository) ForkPull(who, head, base, title string) int {
	var number int
	r.s.act(func() {
		fork := r.forkOf(who)
		fork.bare.Update(head, r.bare.Head(base), "")
		fork.bare.Add(head, "From a fork", r.s.author(r.s.user(who)), map[string]string{"fork.txt": head + "\n"})
		fork.look(r.s.user(who))
		number = r.openPull(r.s.user(who), fork, head, base, title).number
	})
	return number
}

// Fork creates a fork with this name and the current main.
func (r *Repository) Fork(owner, name string) *Repository {
	var fork *Repository
	r.s.act(func() {
		fork = r.s.newRepository(owner + "/" + name)
		fork.fork, fork.private = r, r.private
		fork.bare.Take(r.bare, "main", "refs/heads/main")
	})
	return fork
}

// forkOf returns the fork of an account with all current branches.
func (r *Repository) forkOf(who string) *Repository {
	name := who + "/" + r.name
	fork := r.s.repos[r.s.names[lower(name)]]
	if fork == nil {
		fork = r.s.newRepository(name)
		fork.fork, fork.private = r, r.private
	}
	fork.bare.Take(r.bare, "main", "refs/heads/main")
	return fork
}

// Pull returns a pull request; an unknown number fails the test.
func (r *Repository) Pull(number int) Pull {
	var one Pull
	r.s.act(func() { one = r.must(number).snapshot() })
	return one
}

// Pulls returns all pull requests, oldest first.
func (r *Repository) Pulls() []Pull {
	var all []Pull
	r.s.act(func() {
		for _, p := range r.sorted() {
			all = append(all, p.snapshot())
		}
	})
	return all
}

func (r *Repository) must(number int) *pull {
	if p := r.pulls[number]; p != nil {
		return p
	}
	panic(fmt.Errorf("%s has no pull request %d", r.fullName(), number))
}

func (p *pull) snapshot() Pull {
	one := Pull{
		Number: p.number, Title: p.title, Body: p.body, Head: p.head, Base: p.base, HeadCommit: p.headCommit,
		MergeCommit: p.mergeCommit, Author: p.author.login, Open: p.open(), Merged: p.merged, Draft: p.draft,
		Labels: slices.Clone(p.labels), Assignees: logins(p.assignees), Reviewers: logins(p.reviewers),
		Teams: slices.Clone(p.teams), Created: p.created,
	}
	if p.closed != nil {
		one.Closer, one.Closed = p.closed.by.login, p.closed.at
	}
	for _, c := range p.comments {
		one.Comments = append(one.Comments, Comment{Author: c.author.login, Body: c.body})
	}
	return one
}

func logins(users []*user) []string {
	var names []string
	for _, u := range users {
		names = append(names, u.login)
	}
	return names
}

// ClosePull closes a pull request as who.
func (r *Repository) ClosePull(who string, number int) {
	r.s.act(func() { r.must(number).close(r.s.user(who)) })
}

// ReopenPull reopens a pull request as who.
func (r *Repository) ReopenPull(who string, number int) {
	r.s.act(func() { r.must(number).reopen(r.s.user(who)) })
}

func (p *pull) reopen(by *user) {
	p.closed = nil
	p.happened("reopened", by, "")
}

// EditPull changes title and body as a user; nil leaves them unchanged.
func (r *Repository) EditPull(number int, title, body *string) {
	r.s.act(func() {
		p := r.must(number)
		if title != nil {
			p.title = *title
		}
		if body != nil {
			p.body = *body
		}
		p.touch()
	})
}

// LabelPull adds a label.
func (r *Repository) LabelPull(number int, label string) {
	r.s.act(func() { r.must(number).label(label) })
}

func (p *pull) label(name string) {
	if p.repo.labels[name] == 0 {
		p.repo.labels[name] = p.repo.s.next()
	}
	if !slices.Contains(p.labels, name) {
		p.labels = append(p.labels, name)
		p.touch()
	}
}

// MergePull merges as a user, bypassing all protection, and returns the resulting
// commit on the base. The method is merge, squash, rebase, fast-forward (a push of
// the head to the base) or queue.
func (r *Repository) MergePull(who string, number int, method string) string {
	var commit string
	r.s.act(func() {
		p, by := r.must(number), r.s.user(who)
		switch method {
		case "fast-forward":
			r.bare.Update(p.base, p.headCommit, r.bare.Head(p.base))
			r.look(by)
			commit = p.headCommit
			return
		case "queue": // the queue merges by the method of the repository, as a bot
			by, method = r.s.user("github-merge-queue[bot]"), "squash"
		}
		made, clean := p.merge(by, method, "", "")
		if !clean {
			panic(fmt.Errorf("pull request %d conflicts", number))
		}
		commit = made
	})
	return commit
}

// Review adds a review of the current head: APPROVED, CHANGES_REQUESTED or COMMENTED.
func (r *Repository) Review(who string, number int, state string) {
	r.s.act(func() {
		p := r.must(number)
		p.reviews = append(p.reviews, &review{
			id: r.s.next(), author: r.s.user(who), state: state, commit: p.headCommit, at: r.s.time(),
		})
		p.touch()
	})
}

// DismissReviews dismisses the reviews of who.
func (r *Repository) DismissReviews(who string, number int) {
	r.s.act(func() {
		for _, one := range r.must(number).reviews {
			if lower(one.author.login) == lower(who) && one.state != "COMMENTED" {
				one.state = "DISMISSED"
			}
		}
	})
}

// Comment writes a comment as who and returns its ID.
func (r *Repository) Comment(who string, number int, body string) int64 {
	var id int64
	r.s.act(func() { id = r.must(number).say(r.s.user(who), body).id })
	return id
}

func (p *pull) say(by *user, body string) *comment {
	p.touch()
	c := &comment{id: p.repo.s.next(), repo: p.repo, number: p.number, page: "pull", author: by, body: body, created: p.updated, updated: p.updated}
	p.comments = append(p.comments, c)
	return c
}
