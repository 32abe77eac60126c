package reconcile

import (
	"context"
	"slices"

	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
)

// rehearsal reconciles on an overlay of the repository. What would be pushed, or merged
// because all gates have passed, lands there: its commits are written to memory, and the
// next cycle observes them. So it reports all that Reconcile would do at once. It stops at
// what cannot be known, such as the checks of a pull request that is not open yet.
type rehearsal struct {
	r      *Reconciler
	landed map[promotion.Target]bool
	merged map[string]bool // the heads of pull requests that would be merged
}

// Rehearse is a dry run of Reconcile: it writes nothing, and reads no commands in comments. The report has what
// Reconcile would do.
func (r *Reconciler) Rehearse(ctx context.Context) (outcome.Report, error) {
	trial := *r
	trial.Clients.Remote, trial.Clients.ReadOnly = &repo.Overlay{Remote: r.Clients.Remote}, true
	trial.Users.Permissions = nil
	trial.Acted, trial.Cache = nil, nil
	h := &rehearsal{r: &trial, landed: map[promotion.Target]bool{}, merged: map[string]bool{}}
	return trial.repeat(ctx, observe.Start{}, h.attempt, afterRehearsal)
}

// attempt is Reconciler.attempt on the overlay.
func (h *rehearsal) attempt(ctx context.Context, start observe.Start, _ *repo.Refs) (done attempted, err error) {
	ctx, end := h.r.Trace.Begin(ctx, "attempt")
	defer func() { end(nil, err) }()
	o, err := h.r.observe(ctx, h.r.reader(), start, nil)
	if err != nil || o.Unusable != "" {
		return attempted{report: outcome.Unplanned(o)}, err
	}
	if len(h.landed) == 0 { // what was read until now is about commits of the repository
		h.r.Clients.Landings = &landing.Rehearsed{Memory: h.r.Clients.Landings}
	}
	made, err := o.Plan(ctx)
	if err != nil {
		return attempted{report: outcome.Unplanned(o)}, err
	}
	actor := h.r.actor()
	actor.Trace = nil // nothing is done
	lands := func(p propose.Proposal) bool {
		return p.Step == propose.StepPush || p.Step == propose.StepPropose && p.Open != nil && p.Land && !h.merged[p.Head]
	}
	pushed, err := actor.Push(ctx, o, made, lands)
	if err != nil {
		return attempted{report: outcome.Of(pushed.Observation, made, nil)}, err
	}
	effects := pushed.Effects
	for i := range effects {
		e := &effects[i]
		e.Planned = e.Action == outcome.ActionPushed
		e.Follows = h.follows(o, e.Proposal)
		e.Action, e.Commit = outcome.ActionNone, ""
	}
	for _, p := range made.Proposals {
		if lands(p) || h.merged[p.Head] {
			continue
		}
		e := outcome.Effect{Proposal: p, Action: outcome.ActionNone, Err: o.SkipReason(p, o.Failures.SkipReason)}.WithPromotions(o)
		if p.Step == propose.StepPropose {
			e.Follows = h.follows(o, p)
		}
		effects = append(effects, e)
	}
	for _, e := range effects {
		if !e.Planned {
			continue
		}
		if e.Head != "" {
			h.merged[e.Head] = true
		}
		for _, d := range e.Decisions {
			h.landed[d.Target] = true
		}
	}
	done.report = outcome.Of(pushed.Observation, made, effects)
	done.report.Heads = o.Heads // as the repository is
	done.again = pushed.Landed
	return done, nil
}

// follows returns the environments upstream of a proposal into which something landed.
func (h *rehearsal) follows(o observe.Observation, p propose.Proposal) []string {
	var environments []string
	for _, d := range p.Decisions {
		for _, parent := range o.Promotion.ParentsOf(d.Target) {
			if h.landed[promotion.Target{Environment: parent.Environment, Application: d.Application}] {
				environments = append(environments, parent.Environment)
			}
		}
	}
	slices.Sort(environments)
	return slices.Compact(environments)
}

// afterRehearsal returns the report of a cycle of a rehearsal with the planned effects of
// the cycles before it, and the decisions about them. The history is that of the repository,
// without what would land.
func afterRehearsal(r, before outcome.Report) outcome.Report {
	if before.Heads == nil {
		return r
	}
	planned := slices.DeleteFunc(slices.Clone(before.Effects), func(e outcome.Effect) bool { return !e.Planned })
	r.Decisions = slices.Clone(outcome.WithFalseClaims(r.Decisions, before.Decisions))
	for _, e := range planned {
		for _, decided := range e.Decisions {
			i := slices.IndexFunc(r.Decisions, func(d promotion.Decision) bool { return d.Target == decided.Target })
			if i >= 0 && r.Decisions[i].State == promotion.Same {
				r.Decisions[i] = decided
			}
		}
	}
	r.Effects = slices.Concat(planned, r.Effects)
	r.Default, r.Heads = before.Default, before.Heads
	r.Landings, r.UserDecisions = before.Landings, before.UserDecisions
	return r
}
