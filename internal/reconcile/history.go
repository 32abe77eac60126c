package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/fault"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/plan"
	"promoter/internal/state"
)

// Landed reads the landings from the trailers in the first-parent history of the
// branches of a report, newest first in each, as far as it is readable. It stops at the
// known commit of a branch, and at the time. A merge without trailers, such as a squash
// with another message, is not included: only the forge knows about it.
func (r *Reconciler) Landed(
	ctx context.Context, report outcome.Report, known map[string]string, since time.Time,
) ([]landing.Landed, error) {
	if report.Config == nil {
		return nil, nil
	}
	o := landing.Observed{Heads: report.Heads, Promotion: promotion.Observation{Config: report.Config, DefaultBranch: report.Default}}
	return r.Clients.History(report.Config).Landed(ctx, o, known, since)
}

// HistoryFromGit reads the history without a database: what landed since the time, and
// the user decisions that are in effect. It queries no registry and writes nothing.
func (r *Reconciler) HistoryFromGit(ctx context.Context, since time.Time) (outcome.Report, []landing.Landed, error) {
	o, err := r.reader().Branches(ctx)
	if err != nil || o.Unusable != "" {
		return outcome.Unplanned(o), nil, err
	}
	for branch := range o.Promotion.EnvironmentsByBranch() {
		if o.Heads[branch] == "" {
			continue
		}
		if err := r.Clients.Remote.Deepen(ctx, branch, since); err != nil {
			return outcome.Unplanned(o), nil, fmt.Errorf("read the history of %s: %w", branch, err)
		}
	}
	report := outcome.Of(o, plan.Plan{}, nil)
	landed, err := r.Landed(ctx, report, nil, since)
	return report, landed, err
}

// Past is one observation in which the earlier states of several targets are found.
type Past struct {
	r *Reconciler
	o observe.Observation
}

// Past observes.
func (r *Reconciler) Past(ctx context.Context) (Past, error) {
	o, err := r.quietReader().Observe(ctx, observe.Start{LastAttempt: true})
	if err == nil && o.Unusable != "" {
		err = fault.New(fault.Invalid, "%s", o.Unusable)
	}
	return Past{r, o}, err
}

// Observation returns what was observed.
func (p Past) Observation() promotion.Observation { return p.o.Promotion }

// With returns the same observation as it is after changes of the state.
func (p Past) With(changes ...state.Change) Past {
	p.o.Promotion.State, _ = p.o.Promotion.State.Apply(changes...)
	return p
}

// Before returns the state of a target to which a rollback returns: the previous one, or that
// of a commit or a snapshot.
func (p Past) Before(ctx context.Context, target promotion.Target, named string) (landing.Earlier, error) {
	if _, present := p.o.Promotion.Targets[target]; !present {
		return landing.Earlier{}, fault.New(fault.NotFound, "%s has no files in %s", target.Application, target.Environment)
	}
	if reason, unavailable := p.o.Promotion.Unavailable[target.Environment]; unavailable {
		return landing.Earlier{}, fault.New(fault.Temporary, "%s", reason)
	}
	return p.r.Clients.History(p.o.Promotion.Config).Before(ctx, p.o.Landed(), target, named)
}

// Unsealed returns the times of a target that do not count because they have no seal.
func (p Past) Unsealed(ctx context.Context, target promotion.Target) ([]landing.Unsealed, error) {
	if reason, unavailable := p.o.Promotion.Unavailable[target.Environment]; unavailable {
		return nil, fault.New(fault.Temporary, "%s", reason)
	}
	return p.r.Clients.History(p.o.Promotion.Config).Unsealed(ctx, p.o.Landed(), target)
}

// DecideAgain returns what promoter would decide from an observation of Decide after other changes of the
// state, by the same users.
func (r *Reconciler) DecideAgain(ctx context.Context, o promotion.Observation, changes ...state.Change) ([]promotion.Decision, error) {
	o.State, _ = o.State.Apply(changes...)
	o.Bypasses = maps.Clone(o.Bypasses)
	for target, all := range o.Bypasses {
		request := o.State.At(state.Target(target)).Request
		permits := func(b promotion.Bypass) bool {
			return request != nil && slices.Equal(request.Bypass, b.Request.Bypass) && request.By.Same(b.Request.By)
		}
		if i := slices.IndexFunc(all, permits); i >= 0 {
			o.Bypasses[target] = append(slices.Clone(all), promotion.Bypass{Request: *request, Refused: all[i].Refused})
		}
	}
	return decide.Plan(ctx, o, r.Clients.Now())
}

// Decide returns what promoter would decide after changes of the state, with the
// observation that it decides from. It writes nothing. Without a usable config, both are
// empty.
func (r *Reconciler) Decide(ctx context.Context, changes ...state.Change) (promotion.Observation, []promotion.Decision, error) {
	o, err := r.quietReader().Observe(ctx, observe.Start{LastAttempt: true, Assumed: changes})
	if err != nil || o.Unusable != "" {
		return promotion.Observation{}, nil, err
	}
	decisions, err := decide.Plan(ctx, o.Promotion, o.Now)
	return o.Promotion, decisions, err
}
