// Package act carries out a plan: the state branch first, then the commits of each branch, then the pull requests,
// and last what others see. What changes branches is conditional on what was observed: a push on the old commit, a merge on
// the head. Texts, statuses, and comments are written as they should be, whatever is there.
package act

import (
	"context"

	"promoter/internal/config"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/describe"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/plan"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// Actor carries out the plans of one repository.
type Actor struct {
	Clients  observe.Clients
	Users    observe.Users
	Describe describe.Readers
	// Acted is called with the effects of an action as soon as it was done: all commits of
	// one push, or one pull request, and with the config by which it was decided. Nil: they are
	// only in the outcome.
	Acted func(ctx context.Context, c *config.Config, effects []outcome.Effect)
	Trace outcome.Tracer // nil: nothing is traced
	// Progress is called while pull requests are opened, updated, merged, and closed. Nil: not reported.
	Progress func(doing string, done, total int)
}

// Done is what was done.
type Done struct {
	Observation observe.Observation // with the results of our own effects
	Plan        plan.Plan           // as it was carried out
	Effects     []outcome.Effect
	Landed      bool // something reached an environment's branch
	Again       bool // something was written that may land at once
	merged      bool // a pull request was merged
}

// Refs returns the branches as they are after our pushes, so that the reconciliation that follows
// needs no listing of its own to verify them. A push of a user in between is found by the next event or
// poll, and each of our pushes is conditional on where its branch is. Nil: a pull request was merged, or a branch
// of ours is there, whose pull request could be merged next, which needs a listing.
func (d Done) Refs() *repo.Refs {
	if d.merged || len(d.Observation.OurBranches()) > 0 {
		return nil
	}
	return &d.Observation.Refs
}

// CarryOut carries out a plan. It works on a copy of the observation. An error of one proposal stops no other, except
// a conflict, which restarts the reconciliation. What was done before an error is in the result.
func (a Actor) CarryOut(ctx context.Context, o observe.Observation, made plan.Plan, lastAttempt bool) (Done, error) {
	x := a.begin(o, made, lastAttempt)
	err := x.execute(ctx)
	return x.done(), err
}

// Push carries out some proposals of a plan as pushes to the branches of their environments, and nothing else.
func (a Actor) Push(ctx context.Context, o observe.Observation, made plan.Plan, pushed func(propose.Proposal) bool) (Done, error) {
	x := a.begin(o, made, true)
	err := x.recordPlan(ctx)
	if err == nil {
		err = x.pushProposals(ctx, pushed)
	}
	return x.done(), err
}

// execute acts in a fixed order.
func (x *executor) execute(ctx context.Context) error {
	proposals := x.plan.Proposals
	// The state branch first: a close is no user's because promoter recorded its own before, and the commits have the
	// mark of the seal.
	if err := x.recordPlan(ctx); err != nil {
		return err
	}

	// Then the pushes.
	if err := x.pushProposals(ctx, func(p propose.Proposal) bool { return p.Step == propose.StepPush }); err != nil {
		return err
	}

	// Then the pull requests, in the order of the plan.
	var pulls []propose.Proposal
	for _, p := range proposals {
		if p.Step != propose.StepPush {
			pulls = append(pulls, p)
		}
	}
	for i, p := range pulls {
		if x.moved.onTheWay(p, x.o.Promotion.Config) {
			continue
		}
		effect := outcome.Effect{Proposal: p, Action: outcome.ActionNone, Err: x.skipReason(p)}
		if effect.Err == nil {
			effect = x.carryOut(ctx, effect)
		}
		if x.actor.Progress != nil { // forges ask for time between writes: twenty new ones can take a minute
			x.actor.Progress("updating pull requests", i+1, len(pulls))
		}
		if err := x.record(ctx, effect); err != nil {
			return err
		}
	}

	// Then cleanup. A branch that cannot be deleted is found again next time.
	decided := plan.Plan{Decisions: x.plan.Decisions, Proposals: proposals}
	for _, branch := range decided.UnusedBranches(x.o.Refs.Branches, x.o.Promotion.Open, x.c.Objects, x.c.By) {
		if x.failures.SkipReason(branch) != nil {
			continue
		}
		if err := x.push(ctx, repo.Update{Branch: branch, Old: x.o.Refs.Branches[branch]}); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}

	// Then what others see: the health of what landed, the status of their pull requests,
	// replies to commands, and the status of a config that was broken.
	if err := storeHealth(ctx, x.c, x.o.Health, x.failures); err != nil {
		return err
	}
	if err := x.setForeignStatuses(ctx); err != nil {
		return err
	}
	if err := x.replyToCommands(ctx); err != nil {
		return err
	}
	if err := passConfig(ctx, x.c, x.o, x.failures); err != nil {
		return err
	}
	rememberHeads(ctx, x.c, x.o)
	return x.failures.AddOrStop(ctx, state.Branch, x.c.StateBranch().Remember(ctx, x.o.Branch))
}

// carryOut carries out one proposal that is not pushed.
func (x *executor) carryOut(ctx context.Context, effect outcome.Effect) (done outcome.Effect) {
	if effect.Step == propose.StepWait {
		return effect
	}
	ctx, end := x.actor.Trace.Begin(ctx, string(effect.Step))
	defer func() { end([]outcome.Effect{done}, done.Err) }()
	if open := effect.Open; open != nil {
		effect.Number, effect.URL = open.Number, open.URL
		effect.Commit = open.Commit
	}
	switch {
	case effect.Step == propose.StepPropose:
		return x.propose(ctx, effect)
	case effect.Step == propose.StepKeep && effect.Open != nil:
		return x.keep(ctx, effect)
	case effect.Step == propose.StepClose && effect.Open != nil:
		return x.closePullRequest(ctx, effect)
	default:
		return effect
	}
}
