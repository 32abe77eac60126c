// Package act carries out a plan: the state branch first, then the commits of each branch, then the pull requests,
// and last what others see. Every effect is conditional on what was observed: a push on the old commit, a merge on the head.
package act

import (
	"context"
	"log/slog"
	"strings"

	"promoter/internal/config"
	"promoter/internal/promotion"
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
// poll, and each of our pushes is conditional on where its branch is. Nil: a pull request was merged, or is
// open and could be merged next, which needs a listing.
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
	err := x.pushProposals(ctx, pushed)
	return x.done(), err
}

// executor carries out one plan.
type executor struct {
	actor    Actor
	c        observe.Clients
	o        observe.Observation // with the results of our own effects
	plan     plan.Plan           // replaced where a push or a merge has to be decided again
	effects  []outcome.Effect
	failures *repo.Collector

	merged    map[string]string          // by branch, the commit of our last merge into it
	written   map[string]map[string]bool // by branch, the files that were pushed to it
	statusSet map[string]bool            // by commit, whether our status was set just now
	landed    bool                       // see Done
	again     bool
}

func (a Actor) begin(o observe.Observation, made plan.Plan, lastAttempt bool) *executor {
	return &executor{
		actor: a, c: a.Clients,
		o: o.Clone(), plan: made, failures: repo.Collect(o.Failures, lastAttempt),
		merged: map[string]string{}, written: map[string]map[string]bool{}, statusSet: map[string]bool{},
		again: o.Refreshed,
	}
}

func (x *executor) done() Done {
	x.o.Failures = x.failures.Failures()
	return Done{
		Observation: x.o, Plan: x.plan, Effects: x.effects,
		Landed: x.landed, Again: x.again, merged: len(x.merged) > 0,
	}
}

// execute acts in a fixed order.
func (x *executor) execute(ctx context.Context) error {
	proposals := x.plan.Proposals
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
		if x.failures.Skipped(branch) != nil {
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

// skipReason returns why a proposal is not carried out; nil: it is.
func (x *executor) skipReason(p propose.Proposal) error { return x.o.SkipReason(p, x.failures.Skipped) }

// record adds effects to the report, and announces those that did something. Some errors
// end the reconciliation; what was done before is in the report all the same.
func (x *executor) record(ctx context.Context, effects ...outcome.Effect) (stop error) {
	var done []outcome.Effect
	for _, effect := range effects {
		err := x.failures.Stop(ctx, effect.Err)
		if err != nil {
			effect.Err = nil // it is the error of the reconciliation
		}
		if stop == nil {
			stop = err
		}
		effect = effect.WithPromotions(x.o)
		if effect.Action != outcome.ActionNone {
			done = append(done, effect)
			logBypassed(ctx, x.c.Log, effect)
		}
		if err == nil || effect.Action != outcome.ActionNone {
			x.effects = append(x.effects, effect)
		}
	}
	if x.actor.Acted != nil && len(done) > 0 {
		x.actor.Acted(ctx, x.o.Promotion.Config, done)
	}
	return stop
}

// logBypassed logs what a promotion bypassed when it is proposed, and when it lands.
func logBypassed(ctx context.Context, log *slog.Logger, effect outcome.Effect) {
	if effect.Action == outcome.ActionClosed || effect.Action == outcome.ActionUpdated {
		return
	}
	for _, d := range effect.Decisions {
		a := promotion.AttributionOf(d)
		if len(a.Bypassed) == 0 {
			continue
		}
		log.WarnContext(ctx, "conditions bypassed",
			slog.String("environment", d.Environment), slog.String("application", d.Application),
			slog.String("conditions", strings.Join(a.Bypassed, ", ")),
			slog.String("by", a.RequestedBy), slog.String("reason", a.Reason),
			slog.String("action", string(effect.Action)))
	}
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

// replan plans again with what is known about a pull request now, and returns its
// proposal.
func (x *executor) replan(open promotion.Open) (propose.Proposal, bool) {
	x.o.Promotion.Open[open.Head] = open
	x.plan = x.o.Plan()
	for _, p := range x.plan.Proposals {
		if p.Head == open.Head {
			return p, true
		}
	}
	return propose.Proposal{}, false
}
