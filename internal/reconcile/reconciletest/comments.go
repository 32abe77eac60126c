package reconciletest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
)

type conversation struct{ Forge *Forge }

// Comments implements scm.Conversation.
func (f conversation) Comments(_ context.Context, number int) ([]scm.Comment, error) {
	return f.Forge.CommentsOf(number), nil
}

// Recent implements scm.Conversation.
func (f conversation) Recent(_ context.Context, since time.Time, limit int) ([]scm.Comment, error) {
	if err := failing(f.Forge, "recent"); err != nil {
		return nil, err
	}
	defer f.Forge.call("recent")()
	var all []scm.Comment
	for _, p := range f.Forge.pulls {
		for _, c := range p.comments {
			if !c.Changed.Before(since) {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b scm.Comment) int { return cmp.Or(a.Changed.Compare(b.Changed), cmp.Compare(a.ID, b.ID)) })
	return all[:min(limit, len(all))], nil
}

// React implements scm.Conversation.
func (f conversation) React(_ context.Context, comment scm.Comment, reaction scm.Reaction) error {
	return f.Forge.write("react", func() error {
		if !slices.ContainsFunc(f.Forge.find(comment.Number).comments, func(c scm.Comment) bool { return c.ID == comment.ID }) {
			return fault.New(fault.NotFound, "comment %d of pull request %d is gone", comment.ID, comment.Number)
		}
		if !slices.Contains(f.Forge.reactions[comment.ID], reaction) {
			f.Forge.reactions[comment.ID] = append(f.Forge.reactions[comment.ID], reaction)
		}
		return nil
	})
}

// Reacted implements scm.Conversation.
func (f conversation) Reacted(_ context.Context, comment scm.Comment) (bool, error) {
	if err := failing(f.Forge, "reactions"); err != nil {
		return false, err
	}
	defer f.Forge.call("reactions")()
	return len(f.Forge.reactions[comment.ID]) > 0, nil
}

// Say implements scm.Conversation.
func (f conversation) Say(_ context.Context, number int, marker, text string) error {
	return f.Forge.write("say", func() error { return f.Forge.say(number, marker, text) })
}

func (f *Forge) say(number int, marker, text string) error {
	p := f.find(number)
	body := "<!-- " + marker + " -->\n" + text
	i := slices.IndexFunc(p.comments, func(c scm.Comment) bool { return strings.Contains(c.Body, "<!-- "+marker+" -->") })
	if i >= 0 {
		if p.comments[i].Body != body {
			p.comments[i].Body, p.comments[i].Changed, p.comments[i].Edited = body, f.Now(), true
		}
		return nil
	}
	f.comment(p, Bot, body)
	return nil
}

// comment adds a comment. The caller holds the lock.
func (f *Forge) comment(p *pull, author identity.User, body string) scm.Comment {
	f.comments++
	added := scm.Comment{
		ID: f.comments, Number: p.Number, Author: author, Bot: author.Bot, Body: body, Created: f.Now(), Changed: f.Now(),
	}
	p.comments = append(p.comments, added)
	return added
}

// Comment comments on a pull request as a user.
func (f *Forge) Comment(number int, author identity.User, body string) scm.Comment {
	defer f.call("by a user")()
	return f.comment(f.find(number), author, body)
}

// EditComment edits a comment as its author.
func (f *Forge) EditComment(id int64, body string) {
	defer f.call("by a user")()
	for _, p := range f.pulls {
		for i := range p.comments {
			if p.comments[i].ID == id {
				p.comments[i].Body, p.comments[i].Changed, p.comments[i].Edited = body, f.Now(), true
			}
		}
	}
}

// EditAtOnce edits a comment within the second in which it was created, so that it does not
// count as edited.
func (f *Forge) EditAtOnce(id int64, body string) {
	defer f.call("by a user")()
	for _, p := range f.pulls {
		for i := range p.comments {
			if p.comments[i].ID == id {
				p.comments[i].Body = body
			}
		}
	}
}

// DeleteComment deletes a comment.
func (f *Forge) DeleteComment(id int64) {
	defer f.call("by a user")()
	for _, p := range f.pulls {
		p.comments = slices.DeleteFunc(p.comments, func(c scm.Comment) bool { return c.ID == id })
	}
}

// ReactionsTo returns our reactions to a comment, in their order.
func (f *Forge) ReactionsTo(id int64) []scm.Reaction {
	defer f.call("by a user")()
	return slices.Clone(f.reactions[id])
}
