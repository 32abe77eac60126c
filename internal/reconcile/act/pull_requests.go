package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config/setting"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/describe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// propose writes the branch, unless it contains the proposal already, and opens or
// refreshes its pull request. Then it merges what may be merged.
func (x *executor) propose(ctx context.Context, effect outcome.Effect) outcome.Effect {
	p := effect.Proposal
	base := x.o.Promotion.BranchOf(p.Environment)
	files, err := x.rewriter().proposal(ctx, x.o.Trees[p.Environment.Name], p, x.o.Heads[base], x.written[base])
	if err != nil || len(files) == 0 {
		return effect.Failed(err)
	}
	head := x.o.Heads[p.Head]
	pushed, foreign, err := x.needsPush(ctx, p, head, files)
	if err != nil {
		return effect.Failed(err)
	}
	if foreign != "" {
		// Our branch without a pull request contains a user's commit: it is theirs.
		effect.Step, effect.Reason = propose.StepWait, promotion.Reason{Rule: promotion.RuleBranch, Message: fmt.Sprintf(
			"the branch %s contains a commit of %s: delete it, or open its pull request again", p.Head, foreign)}
		return effect
	}
	if pushed {
		if effect = x.writeHead(ctx, effect, files, head); effect.Err != nil {
			return effect
		}
	}
	effect.Commit = x.o.Heads[p.Head]
	if p.Open == nil {
		return x.createPullRequest(ctx, effect)
	}
	if pushed {
		effect.Action = outcome.ActionRefreshed
		// On a new head no check ran, and no user approved it.
		open := x.o.Promotion.Open[p.Head]
		open.Checks, open.Refused = nil, nil
		open.Approvals, open.Votes, open.Void = nil, nil, nil
		if fresh, found := x.replan(open); found && fresh.Step == p.Step {
			effect.Proposal = fresh
		}
	}
	if effect = x.refreshText(ctx, effect, pushed); effect.Err != nil {
		return effect
	}
	x.again = x.again || pushed && effect.Environment.Land == setting.LandAutomerge
	if effect = x.setStatus(ctx, effect); effect.Err != nil || pushed || !p.Land {
		return effect
	}
	return x.merge(ctx, effect, files)
}

// needsPush reports whether the head of a proposal has to be written. It returns the user who committed to it last, if it
// would be written although it contains work of theirs.
func (x *executor) needsPush(ctx context.Context, p propose.Proposal, head string, files map[string][]byte) (needed bool, foreign string, err error) {
	if head == "" {
		return true, "", nil
	}
	contained, err := x.rewriter().isProposal(ctx, head, p, files)
	if err != nil {
		return false, "", err
	}
	commit, err := x.c.Objects.Commit(head)
	if err != nil {
		return false, "", fmt.Errorf("read the head of %s: %w", p.Head, err)
	}
	history := x.c.History(x.o.Promotion.Config)
	ours, err := history.Wrote(ctx, p.Head, commit)
	switch {
	case err != nil:
		return false, "", err
	case !contained && !ours:
		return false, commit.Committer.Name, nil
	case !contained:
		return true, "", nil
	case p.Open != nil:
		return false, "", nil
	}
	// A pull request of a merged head would be empty.
	base := x.o.Promotion.BranchOf(p.Environment)
	needed, err = history.Merged(ctx, base, x.o.Heads[base], commit)
	return needed, "", err
}

// writeHead writes the branch of a proposal on the current base.
func (x *executor) writeHead(ctx context.Context, effect outcome.Effect, files map[string][]byte, old string) outcome.Effect {
	commit, err := x.commit(ctx, effect.Proposal, files, x.o.Heads[x.o.Promotion.BranchOf(effect.Environment)])
	if err == nil {
		err = x.push(ctx, repo.Update{Branch: effect.Head, Old: old, New: commit})
	}
	if err != nil {
		return effect.Failed(fmt.Errorf("push %s: %w", effect.Head, err))
	}
	effect.Commit = commit
	return effect
}

// createPullRequest opens the pull request of a branch.
func (x *executor) createPullRequest(ctx context.Context, effect outcome.Effect) outcome.Effect {
	p := propose.Opened(effect.Proposal)
	effect.Proposal = p
	page, _ := x.describer().Page(ctx, x.o, p) // what could not be read is added next time
	effect.Changes = page.Changes
	settings := p.Environment.PullRequest
	pr, err := x.c.Forge.PullRequests().Create(ctx, scm.Draft{
		Head: p.Head, Base: x.o.Promotion.BranchOf(p.Environment),
		Title: pullrequest.Title(page), Body: pullrequest.MergeBody("", pullrequest.Body(page)),
		AsDraft: settings.Draft, Labels: settings.Labels, Reviewers: settings.Reviewers, Assignees: settings.Assignees,
	})
	if err != nil {
		return effect.Failed(fmt.Errorf("open a pull request for %s: %w", p.Head, err))
	}
	effect.Action = outcome.ActionOpened
	effect.Number, effect.URL = pr.Number, pr.URL
	x.again = x.again || propose.Ready(p)
	if err := describe.Summarize(ctx, x.c.Forge, page, x.o.Heads[p.Head]); err != nil {
		return effect.Failed(err)
	}
	return x.setStatus(ctx, effect)
}

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
	page, err := x.describer().Page(ctx, x.o, p)
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

// keep leaves a pull request as it is. For one that belongs to a user it adds the reason as a comment, once.
func (x *executor) keep(ctx context.Context, effect outcome.Effect) outcome.Effect {
	if foreign := effect.Open.Foreign; foreign != "" {
		text := "promoter leaves this pull request to you: " + pullrequest.Sanitize(foreign) +
			". Undo that, or delete its branch, to let promoter continue."
		return x.comment(ctx, effect, "<!-- promoter: hands off -->", text)
	}
	if effect = x.refreshText(ctx, effect, false); effect.Err != nil {
		return effect
	}
	return x.setStatus(ctx, effect)
}

// closePullRequest closes a pull request without a remaining difference, with the
// reason. The state records that already.
func (x *executor) closePullRequest(ctx context.Context, effect outcome.Effect) outcome.Effect {
	text := "Closed by promoter: " + pullrequest.Sanitize(effect.Reason.Message) + "."
	if effect = x.comment(ctx, effect, "<!-- promoter: closed -->", text); effect.Err != nil {
		return effect
	}
	closed := true
	if err := x.c.Forge.PullRequests().Edit(ctx, effect.Number, scm.Edit{Closed: &closed}); err != nil {
		return effect.Failed(fmt.Errorf("close pull request #%d: %w", effect.Number, err))
	}
	effect.Action = outcome.ActionClosed
	return x.deleteHead(ctx, effect)
}

// comment writes the comment with the marker, unless it is there.
func (x *executor) comment(ctx context.Context, effect outcome.Effect, marker, text string) outcome.Effect {
	if !x.c.Forge.Features().Comments {
		return effect
	}
	if err := x.c.Forge.Conversation().Say(ctx, effect.Number, marker, text); err != nil {
		return effect.Failed(fmt.Errorf("comment on pull request #%d: %w", effect.Number, err))
	}
	return effect
}

// deleteHead deletes a head branch that is not needed any more, unless it was moved or
// deleted meanwhile.
func (x *executor) deleteHead(ctx context.Context, effect outcome.Effect) outcome.Effect {
	err := x.push(ctx, repo.Update{Branch: effect.Head, Old: effect.Commit})
	if kind := fault.KindOf(err); err != nil && kind != fault.Conflict && kind != fault.Unauthorized && kind != fault.NotFound {
		return effect.Failed(fmt.Errorf("delete %s: %w", effect.Head, err))
	}
	return effect
}
