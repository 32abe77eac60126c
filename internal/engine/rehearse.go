package engine

import (
	"context"
	"slices"

	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
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

func (r *Reconciler) rehearsal() *rehearsal {
	trial := *r
	trial.Remote, trial.Acted = &repo.Overlay{Remote: r.Remote}, nil
	return &rehearsal{r: &trial, landed: map[promotion.Target]bool{}, merged: map[string]bool{}}
}

// once is reconcileOnce on the overlay.
func (h *rehearsal) once(ctx context.Context, start basis) (_ Report, _ basis, again bool, err error) {
	ctx, end := h.r.trace(ctx, "attempt")
	defer func() { end(nil, err) }()
	o, err := h.r.observe(ctx, start.full())
	if err != nil || o.Unusable != "" {
		return o.report(), basis{}, false, err
	}
	if len(h.landed) == 0 { // what was read until now is about commits of the repository
		h.r.Landings = &landing.Rehearsed{Memory: h.r.Landings}
	}
	plan := makePlan(o)
	quiet := *h.r
	quiet.Trace = nil // nothing is done
	x := newExecutor(&quiet, o, plan)
	lands := func(p propose.Proposal) bool {
		return p.Step == propose.StepPush || p.Step == propose.StepPropose && p.Open != nil && p.Land && !h.merged[p.Head]
	}
	if err := x.pushProposals(ctx, lands); err != nil {
		return x.o.finalReport(plan, nil), basis{}, false, err
	}
	effects := x.effects
	for i := range effects {
		e := &effects[i]
		e.Planned = e.Action == ActionPushed
		e.Follows = h.follows(o, e.Proposal)
		e.Action, e.Commit = ActionNone, ""
	}
	for _, p := range plan.Proposals {
		if lands(p) || h.merged[p.Head] {
			continue
		}
		e := o.withPromotions(Effect{Proposal: p, Action: ActionNone, Err: o.skipReason(p)})
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
	report := x.o.finalReport(plan, effects)
	report.Heads = o.Heads // as the repository is
	return report, basis{}, x.landed, nil
}

// follows returns the environments upstream of a proposal into which something landed.
func (h *rehearsal) follows(o Observation, p propose.Proposal) []string {
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
func (r Report) afterRehearsal(before Report) Report {
	if before.Heads == nil {
		return r
	}
	planned := slices.DeleteFunc(slices.Clone(before.Effects), func(e Effect) bool { return !e.Planned })
	r.Decisions = slices.Clone(withFalseClaims(r.Decisions, before.Decisions))
	for _, e := range planned {
		for _, decided := range e.Decisions {
			i := slices.IndexFunc(r.Decisions, func(d promotion.Decision) bool { return d.Target == decided.Target })
			if i >= 0 && r.Decisions[i].State == promotion.Same {
				r.Decisions[i] = decided
			}
		}
	}
	r.Effects = slices.Concat(planned, r.Effects)
	r.Default, r.Heads, r.Landings, r.UserDecisions = before.Default, before.Heads, before.Landings, before.UserDecisions
	return r
}
