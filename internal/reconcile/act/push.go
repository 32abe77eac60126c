package act

import (
	"context"
	"fmt"
	"slices"

	"promoter/internal/fault"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
)

// pushProposals pushes some proposals, one chain of commits for each branch.
func (x *executor) pushProposals(ctx context.Context, pushed func(propose.Proposal) bool) error {
	proposals := x.plan.Proposals
	chains, branches := map[string][]*propose.Proposal{}, []string{}
	for i, p := range proposals {
		if !pushed(p) {
			continue
		}
		branch := x.o.Promotion.BranchOf(p.Environment)
		if chains[branch] == nil {
			branches = append(branches, branch)
		}
		chains[branch] = append(chains[branch], &proposals[i])
	}
	for _, branch := range branches {
		onTheWay := func(p *propose.Proposal) bool { return x.moved.onTheWay(*p, x.o.Promotion.Config) }
		chains[branch] = slices.DeleteFunc(chains[branch], onTheWay)
		if err := x.pushChain(ctx, branch, chains[branch]); err != nil {
			return err
		}
	}
	return nil
}

// maxUnpushed is how many bytes of new objects are in memory before they are pushed. Each
// commit has new trees: 80 KB in a folder of 2,000 applications.
const maxUnpushed = 16 << 20

// pushChain makes one commit for each proposal of a branch and pushes them in their order:
// all together, or as many at a time as fit into maxUnpushed.
func (x *executor) pushChain(ctx context.Context, branch string, chain []*propose.Proposal) error {
	x.written[branch] = map[string]bool{}
	for len(chain) > 0 {
		effects, err := x.pushNext(ctx, branch, chain)
		chain = chain[len(effects):]
		if err != nil { // the rest would build on what the branch does not have
			for _, p := range chain {
				effect := outcome.Effect{Proposal: *p, Action: outcome.ActionNone, Err: x.skipReason(*p)}
				if effect.Err == nil {
					effect.Err = err
				}
				effects = append(effects, effect)
			}
			chain = nil
		}
		if err := x.record(ctx, effects...); err != nil {
			return err
		}
	}
	return nil
}

// pushNext pushes the commits of the first proposals of a chain and returns their effects.
// The error is that of the push.
func (x *executor) pushNext(ctx context.Context, branch string, chain []*propose.Proposal) (effects []outcome.Effect, err error) {
	ctx, end := x.actor.Trace.Begin(ctx, string(propose.StepPush))
	defer func() { end(effects, nil) }()
	tip := x.o.Heads[branch]
	before := x.c.Objects.Unpushed()
	for _, p := range chain {
		effect := x.commitNext(ctx, *p, branch, tip)
		if effect.Action == outcome.ActionPushed {
			tip = effect.Commit
		}
		effects = append(effects, effect)
		if x.c.Objects.Unpushed()-before >= maxUnpushed {
			break
		}
	}
	if tip == x.o.Heads[branch] {
		return effects, nil
	}
	err = x.push(ctx, repo.Update{Branch: branch, Old: x.o.Heads[branch], New: tip})
	if err == nil {
		x.landed = true
		x.c.History(x.o.Promotion.Config).Remember(ctx, pushed(effects)...)
		x.describe.Pushed(ctx, x.o, effects)
		return effects, nil
	}
	err = repo.RefusedPush(branch, err)
	if fault.KindOf(err) == fault.Unauthorized {
		err = fmt.Errorf("%w (allow promoter to bypass the protection of %s, or use land: automerge or pr)", err, branch)
	}
	for i := range effects {
		if effects[i].Action == outcome.ActionPushed {
			effects[i].Action, effects[i].Commit = outcome.ActionNone, ""
			effects[i].Err = err
		}
	}
	return effects, err
}

// commitNext writes the commit of a proposal on the tip of a chain. Without a commit, nothing differs there.
func (x *executor) commitNext(ctx context.Context, p propose.Proposal, branch, tip string) outcome.Effect {
	effect := outcome.Effect{Proposal: p, Action: outcome.ActionNone}
	if err := x.skipReason(p); err != nil {
		return effect.Failed(err)
	}
	files, err := newRewriter(x.c, x.o).proposal(ctx, x.o.Trees[p.Environment.Name], p, tip, x.written[branch])
	if err != nil || len(files) == 0 {
		return effect.Failed(err)
	}
	commit, err := x.commit(ctx, p, files, tip)
	if err != nil {
		return effect.Failed(err)
	}
	for path := range files {
		x.written[branch][path] = true
	}
	effect.Commit, effect.Action = commit, outcome.ActionPushed
	return effect
}

// commit writes the commit of a proposal as it is to be pushed.
func (x *executor) commit(
	ctx context.Context, p propose.Proposal, files map[string][]byte, parent string, replaced ...promotion.Trailer,
) (string, error) {
	commit, err := newRewriter(x.c, x.o).commit(p, files, parent, replaced...)
	if err != nil {
		return "", err
	}
	if commit, err = x.c.Remote.Sign(ctx, commit); err != nil {
		return "", fmt.Errorf("sign a commit for %s: %w", p.Head, err)
	}
	return commit, nil
}

// pushed returns the commits of effects.
func pushed(effects []outcome.Effect) (commits []landing.Pushed) {
	for _, e := range effects {
		if e.Action == outcome.ActionPushed {
			commits = append(commits, landing.Pushed{Commit: e.Commit, Decisions: e.Decisions})
		}
	}
	return commits
}

// writeHead writes the branch of a proposal on the current base.
func (x *executor) writeHead(ctx context.Context, effect outcome.Effect, files map[string][]byte, old string) outcome.Effect {
	base := x.o.Promotion.BranchOf(effect.Environment)
	commit, err := x.commitHead(ctx, effect.Proposal, files, base, old)
	if err != nil {
		return effect.Failed(fmt.Errorf("push %s: %w", effect.Head, err))
	}
	if err := x.push(ctx, repo.Update{Branch: effect.Head, Old: old, New: commit}); err != nil {
		return effect.Failed(repo.RefusedPush(effect.Head, err))
	}
	effect.Commit = commit
	return effect
}

// commitHead writes the commit of a head on its base. It names the heads with the same content that it replaces.
func (x *executor) commitHead(
	ctx context.Context, p propose.Proposal, files map[string][]byte, base, old string,
) (string, error) {
	replaced, err := x.replaced(ctx, p, files, old)
	if err != nil {
		return "", err
	}
	return x.commit(ctx, p, files, x.o.Heads[base], replaced...)
}

// replaced returns the trailers that name the heads with the same content that a new head of a pull request replaces: users
// may have approved these.
func (x *executor) replaced(
	ctx context.Context, p propose.Proposal, files map[string][]byte, old string,
) ([]promotion.Trailer, error) {
	if p.Open == nil || old == "" || !x.c.Forge.Features().Approvals {
		return nil, nil
	}
	head, err := x.c.Objects.Commit(old)
	if err != nil {
		return nil, repo.IgnoreNotFound(err)
	}
	base := x.o.Promotion.BranchOf(p.Environment)
	trailers, err := x.c.History(x.o.Promotion.Config).Replacing(ctx, p.Head, head, base, x.o.Heads[base], pullrequest.Trailers(p), files)
	if err != nil {
		return nil, fmt.Errorf("compare with the former head of %s: %w", p.Head, err)
	}
	return trailers, nil
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
