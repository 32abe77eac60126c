package giteatest

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

// forkOf returns the fork of an account with the current main.
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
		MergeCommit: p.mergeCommit, Author: p.author.login, Open: p.open(), Merged: p.merged, Draft: p.draft(),
		Assignees: logins(p.assignees), Reviewers: logins(p.reviewers), Created: p.created,
	}
	for _, label := range p.labels {
		one.Labels = append(one.Labels, label.name)
	}
	for _, team := range p.teams {
		one.Teams = append(one.Teams, team.name)
	}
	if p.closed != nil {
		one.Closer, one.Closed = p.closed.by.login, p.closed.at
	}
	for _, said := range p.comments() {
		one.Comments = append(one.Comments, Comment{Author: said.by.login, Body: said.body})
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

// comments returns the timeline entries written by users.
func (p *pull) comments() []*event {
	return slices.DeleteFunc(slices.Clone(p.events), func(e *event) bool { return e.kind != "comment" })
}

// ClosePull closes a pull request as who.
func (r *Repository) ClosePull(who string, number int) {
	r.s.act(func() { r.must(number).close(r.s.user(who)) })
}

// ReopenPull reopens a pull request as who.
func (r *Repository) ReopenPull(who string, number int) {
	r.s.act(func() { r.must(number).reopen(r.s.user(who)) })
}

// reopen restores a deleted branch, and makes the pull request follow it again.
func (p *pull) reopen(by *user) {
	p.closed = nil
	head := p.from.bare.Head(p.head)
	if head == "" {
		head = p.headCommit
		p.from.bare.Update(p.head, head, "")
	}
	p.headCommit = head
	p.publishHead()
	p.happened("reopen", by, "")
	p.from.look(by)
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

// Retarget changes the base of a pull request as a user.
func (r *Repository) Retarget(number int, base string) {
	r.s.act(func() {
		p := r.must(number)
		p.base = base
		p.touch()
	})
}

// LabelPull adds a label.
func (r *Repository) LabelPull(number int, name string) {
	r.s.act(func() { r.must(number).label(r.labelOf(name)) })
}

func (r *Repository) labelOf(name string) *label {
	for _, one := range r.labels {
		if one.name == name {
			return one
		}
	}
	made := &label{id: r.s.next(), name: name}
	r.labels = append(r.labels, made)
	return made
}

func (p *pull) label(one *label) {
	if !slices.Contains(p.labels, one) {
		p.labels = append(p.labels, one)
		p.touch()
	}
}

// MergePull merges as a user, bypassing all protection, and returns the resulting
// commit on the base. The method is merge, squash, rebase, rebase-merge, fast-forward
// (a push of the head to the base) or queue, which is Gitea's merge when checks
// succeed.
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
		case "queue":
			method = "squash"
		}
		made, clean := p.merge(by, method, "")
		if !clean {
			panic(fmt.Errorf("pull request %d conflicts", number))
		}
		commit = made
	})
	return commit
}

// Review adds a review of the current head: APPROVED, REQUEST_CHANGES or COMMENT. It
// is official if the reviewer may push.
func (r *Repository) Review(who string, number int, state string) {
	r.s.act(func() {
		p, by := r.must(number), r.s.user(who)
		p.reviews = append(p.reviews, &review{
			id: r.s.next(), author: by, state: state, commit: p.headCommit, official: r.mayPush(by), at: r.s.time(),
		})
		p.reviewers = slices.DeleteFunc(p.reviewers, func(u *user) bool { return u == by })
		p.touch()
	})
}

// DismissReviews dismisses the reviews of who.
func (r *Repository) DismissReviews(who string, number int) {
	r.s.act(func() {
		for _, one := range r.must(number).reviews {
			if lower(one.author.login) == lower(who) && one.state != "COMMENT" {
				one.dismissed = true
			}
		}
	})
}

// Comment writes a comment as who and returns its ID.
func (r *Repository) Comment(who string, number int, body string) int64 {
	var id int64
	r.s.act(func() { id = r.must(number).happened("comment", r.s.user(who), body).id })
	return id
}
