package act

import (
	"context"
	"log/slog"
	"strings"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/describe"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/plan"
	"promoter/internal/repo"
)

// executor carries out one plan.
type executor struct {
	actor    Actor
	c        observe.Clients
	describe describe.Describer
	o        observe.Observation // with the results of our own effects
	plan     plan.Plan           // replaced where a push or a merge has to be decided again
	effects  []outcome.Effect
	failures *repo.Collector

	merged    map[string]string          // by branch, the commit of our last merge into it
	written   map[string]map[string]bool // by branch, the files that were pushed to it
	statusSet map[string]bool            // by commit, whether our status was set just now
	about     contents                   // of the pull requests that we wrote, merged, or closed just now
	landed    bool                       // see Done
	again     bool
	moved     moved // what got other versions just now, or gets them in the next attempt
}

func (a Actor) begin(o observe.Observation, made plan.Plan, lastAttempt bool) *executor {
	return &executor{
		actor: a, c: a.Clients,
		describe: describe.Describer{Clients: a.Clients, Users: a.Users, Readers: a.Describe},
		o:        o.Clone(), plan: made, failures: repo.Collect(o.Failures, lastAttempt),
		merged: map[string]string{}, written: map[string]map[string]bool{}, statusSet: map[string]bool{},
		about: contents{}, moved: moved{},
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

// skipReason returns why a proposal is not carried out; nil: it is.
func (x *executor) skipReason(p propose.Proposal) error {
	return x.o.SkipReason(p, x.failures.SkipReason)
}

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
		x.moved.add(effect)
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
		log := log.With(slog.String("environment", d.Environment), slog.String("application", d.Application))
		conditions := slog.String("conditions", strings.Join(a.Bypassed, ", "))
		by, reason := slog.String("by", a.RequestedBy), slog.String("reason", a.Reason)
		log.WarnContext(ctx, "conditions bypassed", conditions, by, reason, slog.String("action", string(effect.Action)))
	}
}

// replan plans again with what is known about a pull request now, and returns its
// proposal.
func (x *executor) replan(ctx context.Context, open promotion.Open) (p propose.Proposal, found bool, err error) {
	x.o.Promotion.Open[open.Head] = open
	if x.plan, err = x.o.Plan(ctx); err != nil {
		return p, false, err
	}
	for _, p := range x.plan.Proposals {
		if p.Head == open.Head {
			return p, true, nil
		}
	}
	return p, false, nil
}

// push pushes, and keeps where the branches are now.
func (x *executor) push(ctx context.Context, updates ...repo.Update) error {
	if err := x.c.Remote.Push(ctx, updates...); err != nil {
		return err // the caller names what it pushed
	}
	for _, update := range updates {
		if update.New == "" {
			delete(x.o.Heads, update.Branch)
			delete(x.o.Refs.Branches, update.Branch)
			continue
		}
		x.o.Heads[update.Branch], x.o.Refs.Branches[update.Branch] = update.New, update.New
	}
	return nil
}
