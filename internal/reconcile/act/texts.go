package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/describe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm"
)

// refreshText updates title and body. What a user wrote stays: text outside our
// markers, and a title that is not ours. A run that pushed may have been killed before
// it updated the title.
func (x *executor) refreshText(ctx context.Context, effect outcome.Effect, pushed bool) outcome.Effect {
	p := effect.Proposal
	i := slices.IndexFunc(x.o.Open, func(pr scm.PullRequest) bool { return pr.Number == p.Open.Number })
	if i < 0 || len(p.Decisions) == 0 {
		return effect
	}
	pr, edit := &x.o.Open[i], scm.Edit{}
	page, err := x.describe.Page(ctx, x.o, p)
	effect.Changes = page.Changes
	if err != nil && !pushed {
		return effect // nothing is removed only because it is unknown just now
	}
	if err := describe.Summarize(ctx, x.c.Forge, page, x.o.Heads[p.Head]); err != nil {
		return effect.Failed(err)
	}
	ours := pullrequest.Body(page)
	if page.Incomplete {
		ours = pullrequest.KeepChanges(pr.Body, ours)
	}
	if body := pullrequest.MergeBody(pr.Body, ours); body != pr.Body {
		edit.Body = &body
	}
	isOurs := pullrequest.WroteTitle(pr.Body, pr.Title)
	if commit, err := x.c.Objects.Commit(p.Open.Commit); pushed && err == nil {
		subject, _, _ := strings.Cut(commit.Message, "\n")
		isOurs = isOurs || subject == pr.Title // it came with the old head
	}
	if title := pullrequest.Title(page); title != pr.Title && isOurs {
		edit.Title = &title
	}
	if edit.Body == nil && edit.Title == nil {
		return effect
	}
	if err := x.c.Forge.PullRequests().Edit(ctx, pr.Number, edit); err != nil {
		return effect.Failed(fmt.Errorf("edit pull request #%d: %w", pr.Number, err))
	}
	if edit.Body != nil {
		pr.Body = *edit.Body
	}
	if edit.Title != nil {
		pr.Title = *edit.Title
	}
	if effect.Action == outcome.ActionNone {
		effect.Action = outcome.ActionUpdated
	}
	return effect
}

// setStatus sets our commit status on the head, unless it is set already.
func (x *executor) setStatus(ctx context.Context, effect outcome.Effect) outcome.Effect {
	if !x.c.Forge.Features().Statuses {
		return effect
	}
	status := pullrequest.StatusOf(effect.Proposal)
	if set := x.o.Statuses[effect.Commit]; set.State == status.State && set.Description == status.Description {
		return effect
	}
	err := x.c.Forge.Signals().SetStatus(ctx, effect.Commit, status)
	if errors.Is(err, scm.ErrStatusNotStored) {
		return effect
	}
	if err != nil {
		return effect.Failed(fmt.Errorf("set the status of pull request #%d: %w", effect.Number, err))
	}
	x.o.Statuses[effect.Commit] = scm.Check{State: status.State, Description: status.Description, At: x.o.Now}
	x.statusSet[effect.Commit] = true
	return effect
}

// comment writes the comment with the marker, unless it is there.
func comment(ctx context.Context, forge scm.Repository, effect outcome.Effect, marker, text string) outcome.Effect {
	if !forge.Features().Comments {
		return effect
	}
	if err := forge.Conversation().Say(ctx, effect.Number, marker, text); err != nil {
		return effect.Failed(fmt.Errorf("comment on pull request #%d: %w", effect.Number, err))
	}
	return effect
}
