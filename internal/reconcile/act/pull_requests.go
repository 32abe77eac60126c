package act

import (
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/describe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm"
)

// propose writes the branch, unless it contains the proposal already, and opens or
// refreshes its pull request. Then it merges what may be merged.
func (x *executor) propose(ctx context.Context, effect outcome.Effect) outcome.Effect {
	p := effect.Proposal
	if number, target := x.about.elsewhere(p, x.o.Promotion.Open); number != 0 {
		effect.Step, effect.Reason = propose.StepWait, promotion.Reasonf(promotion.RuleForeign,
			"waiting: pull request #%d is about %s too, and could not be updated", number, target.Name())
		return effect
	}
	base := x.o.Promotion.BranchOf(p.Environment)
	files, err := newRewriter(x.c, x.o).proposal(ctx, x.o.Trees[p.Environment.Name], p, x.o.Heads[base], x.written[base])
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
	x.about.set(p.Head, p.Decisions)
	if p.Open == nil {
		return x.createPullRequest(ctx, effect)
	}
	if pushed {
		effect.Action = outcome.ActionRefreshed
		open, err := x.rewritten(ctx, x.o.Promotion.Open[p.Head])
		if err != nil {
			return effect.Failed(err)
		}
		fresh, found, err := x.replan(ctx, open)
		if err != nil {
			effect.Err = err
			return effect
		}
		if found && fresh.Step == p.Step {
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

// rewritten returns a pull request with a new head, on which no check ran. Where it has the content of the one that it
// replaced, the approvals of that count, unless the forge dismisses them, which the next attempt reads.
func (x *executor) rewritten(ctx context.Context, open promotion.Open) (promotion.Open, error) {
	open.Checks, open.Refused = nil, nil
	open.Pushed = time.Time{} // it is written, so nothing waits for its checks
	same, err := x.sameContent(ctx, open)
	if err != nil {
		return open, err
	}
	if same {
		open.Votes = slices.Clone(open.Votes)
		for i := range open.Votes {
			open.Votes[i].Current = false
		}
		x.again = true
		return open, nil
	}
	open.Approvals, open.Void = nil, nil
	open.Votes = nil
	return open, nil
}

// sameContent reports whether the new head of an approved pull request has the content of the one that was observed.
func (x *executor) sameContent(ctx context.Context, open promotion.Open) (bool, error) {
	if len(open.Approvals) == 0 || open.Commit == "" {
		return false, nil
	}
	head, err := x.c.Objects.Commit(x.o.Heads[open.Head])
	if err != nil {
		return false, err
	}
	target, _ := promotion.ParseHead(open.Head)
	base := x.o.Promotion.BaseOf(target)
	same, err := x.c.History(x.o.Promotion.Config).SameContent(ctx, open.Head, head, base, x.o.Heads[base], []string{open.Commit})
	if err != nil {
		return false, fmt.Errorf("compare with the former head of %s: %w", open.Head, err)
	}
	return len(same) > 0, nil
}

// needsPush reports whether the head of a proposal has to be written. It returns the user who committed to it last, if it
// would be written although it contains work of theirs.
func (x *executor) needsPush(
	ctx context.Context, p propose.Proposal, head string, files map[string][]byte,
) (needed bool, foreign string, err error) {
	if head == "" {
		return true, "", nil
	}
	contained, err := newRewriter(x.c, x.o).isProposal(ctx, head, p, files)
	if err != nil {
		return false, "", err
	}
	commit, err := x.c.Objects.Commit(head)
	if err != nil {
		return false, "", fmt.Errorf("read the head of %s: %w", p.Head, err)
	}
	history := x.c.History(x.o.Promotion.Config)
	base := x.o.Promotion.BranchOf(p.Environment)
	_, ours, err := history.WrittenIn(ctx, p.Head, commit, base, x.o.Heads[base])
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
	needed, err = history.Merged(ctx, base, x.o.Heads[base], commit)
	return needed, "", err
}

// createPullRequest opens the pull request of a branch.
func (x *executor) createPullRequest(ctx context.Context, effect outcome.Effect) outcome.Effect {
	p := propose.Opened(effect.Proposal)
	effect.Proposal = p
	page, _ := x.describe.Page(ctx, x.o, p) // what could not be read is added next time
	effect.Changes = page.Changes
	settings := p.Environment.PullRequest
	pr, err := x.c.Forge.PullRequests().Create(ctx, scm.Draft{
		Head: p.Head, Base: x.o.Promotion.BranchOf(p.Environment),
		Title: pullrequest.Title(page), Body: pullrequest.MergeBody("", pullrequest.Body(page)),
		AsDraft: settings.Draft, Labels: settings.Labels, Reviewers: settings.Reviewers, Assignees: settings.Assignees,
	})
	if pr.Number != 0 { // also if something could not be set
		effect.Action = outcome.ActionOpened
		effect.Number, effect.URL = pr.Number, pr.URL
		x.again = x.again || propose.Ready(p)
	}
	if err != nil {
		return effect.Failed(fmt.Errorf("open a pull request for %s: %w", p.Head, err))
	}
	if err := describe.Summarize(ctx, x.c.Forge, page, x.o.Heads[p.Head]); err != nil {
		return effect.Failed(err)
	}
	return x.setStatus(ctx, effect)
}

// keep leaves a pull request as it is. For one that belongs to a user it adds the reason as a comment, once.
func (x *executor) keep(ctx context.Context, effect outcome.Effect) outcome.Effect {
	if foreign := effect.Open.Foreign; foreign != "" {
		text := "promoter leaves this pull request to you: " + pullrequest.Sanitize(foreign) +
			". Undo that, or delete its branch, to let promoter continue."
		return comment(ctx, x.c.Forge, effect, "<!-- promoter: hands off -->", text)
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
	if effect = comment(ctx, x.c.Forge, effect, "<!-- promoter: closed -->", text); effect.Err != nil {
		return effect
	}
	closed := true
	if err := x.c.Forge.PullRequests().Edit(ctx, effect.Number, scm.Edit{Closed: &closed}); err != nil {
		return effect.Failed(fmt.Errorf("close pull request #%d: %w", effect.Number, err))
	}
	effect.Action = outcome.ActionClosed
	x.about.set(effect.Head, nil)
	return x.deleteHead(ctx, effect)
}
