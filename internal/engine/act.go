package engine

import (
	"context"
	"fmt"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/state"
)

// act carries the proposals out: first what is to be remembered, because the
// effects rest on it; then the pushes, all of a branch at once; then the pull
// requests, in their order. What fails in one stops no other; a lost race stops
// the pass, which begins anew.
func (v *view) act(ctx context.Context) error {
	proposals := v.followDecide(ctx)
	v.remember(promotion.StateUpdates(v.observed, v.report.Decisions, v.now)...)
	v.rememberClosings(proposals)
	if err := v.flush(ctx); err != nil {
		return err
	}
	if err := v.pushAll(ctx, proposals); err != nil {
		return err
	}
	for _, proposal := range proposals {
		if proposal.Step == pullrequest.StepPush {
			continue
		}
		done := Effect{Proposal: proposal, Action: ActionNone, Err: v.unreadOf(proposal)}
		if done.Err == nil {
			done = v.followProposal(ctx, proposal)
		}
		if err := v.note(ctx, done); err != nil {
			return err
		}
	}
	if err := v.tidy(ctx, proposals); err != nil {
		return err
	}
	if err := v.statusOfOthers(ctx); err != nil {
		return err
	}
	return v.answerComments(ctx)
}

// note keeps what came of a proposal. Some errors end the pass.
func (v *view) note(ctx context.Context, done Effect) error {
	if err := v.ends(ctx, done.Err); err != nil {
		return err
	}
	v.done(done)
	return nil
}

// carryOut does one proposal that is no push.
func (v *view) carryOut(ctx context.Context, p pullrequest.Proposal) Effect {
	switch p.Step {
	case pullrequest.StepPropose:
		return v.propose(ctx, p)
	case pullrequest.StepKeep:
		return v.keep(ctx, p)
	case pullrequest.StepClose:
		return v.close(ctx, p)
	default:
		return Effect{Proposal: p, Action: ActionNone}
	}
}

// rememberClosings enters our own closes before they happen.
func (v *view) rememberClosings(proposals []pullrequest.Proposal) {
	for _, p := range proposals {
		if p.Step != pullrequest.StepClose || p.Open == nil || v.unreadOf(p) != nil {
			continue // not closed in this pass: a close that comes is of somebody else
		}
		if target, ours := promotion.ParseHead(p.Head); ours {
			v.remember(state.Closed(state.Target(target), p.Open.Number, p.Reason.Message, v.now))
		}
	}
}

// pushAll lands what goes straight to the branches: one chain and one push for
// each. A branch that refuses stops no other.
func (v *view) pushAll(ctx context.Context, proposals []pullrequest.Proposal) error {
	chains, order := map[string][]pullrequest.Proposal{}, []string{}
	for _, p := range proposals {
		if p.Step != pullrequest.StepPush {
			continue
		}
		branch := v.branchOf(p.Environment)
		if chains[branch] == nil {
			order = append(order, branch)
		}
		chains[branch] = append(chains[branch], p)
	}
	for _, branch := range order {
		for _, done := range v.followPush(ctx, branch, chains[branch]) {
			if err := v.note(ctx, done); err != nil {
				return err
			}
		}
	}
	return nil
}

// pushChain makes one commit for each proposal and pushes them together.
func (v *view) pushChain(ctx context.Context, branch string, chain []pullrequest.Proposal) []Effect {
	tip, touched := v.heads[branch], map[string]bool{}
	v.touched[branch] = touched
	var all []Effect
	for _, p := range chain {
		done := Effect{Proposal: p, Action: ActionNone}
		err := v.unreadOf(p)
		var built built
		if err == nil {
			built, err = v.build(ctx, p, tip, touched)
		}
		if err == nil && len(built.files) > 0 {
			done.Commit, err = v.commit(p, built, tip)
		}
		if done.Err = err; err == nil && done.Commit != "" {
			tip, done.Action = done.Commit, ActionPushed
			for path := range built.files {
				touched[path] = true
			}
		}
		all = append(all, done)
	}
	if tip == v.heads[branch] {
		return all
	}
	err := v.push(ctx, Update{Branch: branch, Old: v.heads[branch], New: tip})
	v.landed = v.landed || err == nil
	for i := range all {
		if all[i].Action == ActionPushed && err != nil {
			all[i].Action, all[i].Commit, all[i].Err = ActionNone, "", pushFault(branch, err)
		}
	}
	return all
}

// pushFault says what can be done about a branch that takes no pushes.
func pushFault(branch string, err error) error {
	if fault.KindOf(err) == fault.Unauthorized {
		return fmt.Errorf("push to %s: %w (let promoter push past the protection of %[1]s, or use land: automerge or pr)", branch, err)
	}
	return fmt.Errorf("push to %s: %w", branch, err)
}

// tidy deletes the branches that served. What kept one from being deleted is no
// failure: the next pass sees it again.
func (v *view) tidy(ctx context.Context, proposals []pullrequest.Proposal) error {
	for _, branch := range v.served(proposals) {
		if v.unread[branch] != nil {
			continue
		}
		if err := v.push(ctx, Update{Branch: branch, Old: v.refs.Branches[branch]}); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// served returns the branches of ours that nothing is open from and nothing
// differs for, and that nobody else committed to.
func (v *view) served(proposals []pullrequest.Proposal) []string {
	var served []string
	for _, branch := range sortedKeys(v.refs.Branches) {
		target, ours := promotion.ParseHead(branch)
		if _, open := v.observed.Open[branch]; !ours || open {
			continue
		}
		busy := slices.ContainsFunc(proposals, func(p pullrequest.Proposal) bool { return p.Head == branch })
		if busy || !v.settled(target) {
			continue
		}
		if head, err := v.Objects.Commit(v.refs.Branches[branch]); err == nil && v.isOurs(head) {
			served = append(served, branch)
		}
	}
	return served
}

// settled says whether nothing differs in the place, or in all of an environment.
func (v *view) settled(target promotion.Target) bool {
	known := false
	for _, d := range v.report.Decisions {
		if d.Environment != target.Environment || target.Application != state.All && d.Application != target.Application {
			continue
		}
		if known = true; d.State != promotion.Same && d.State != promotion.Absent {
			return false
		}
	}
	return known
}
