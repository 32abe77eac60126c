package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/identity"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// readReports reads the reports about health that arrived at the receivers of the config.
func (r *Reconciler) readReports(ctx context.Context, o Observation) (Observation, error) {
	receivers := o.Promotion.Config.Receivers()
	if r.Evidence == nil || len(receivers) == 0 {
		return o, nil
	}
	reports, err := r.Evidence.Reports(ctx, receivers)
	if err != nil {
		return o, fmt.Errorf("read what was reported about health: %w", err)
	}
	o.Reports = reports
	return o, nil
}

// recordFailures records which landed snapshots have failed and, with onFailure: rollback,
// that their targets return to the versions of before. Both are decided once, on the state
// branch, so that they happen once.
func recordFailures(ctx context.Context, history landing.Reader, o Observation) (Observation, error) {
	for _, target := range slices.SortedFunc(maps.Keys(o.Promotion.Landings), promotion.Target.Compare) {
		why, failing := promotion.Failing(o.Promotion, target, o.Now)
		if !failing {
			continue
		}
		landed := o.Promotion.Landings[target][0].Snapshot
		failure := state.Failure{Snapshot: landed.ID(), Reason: why, At: o.Now}
		var back *state.RolledBack
		failed := map[string]string{}
		if promotion.MayRollBack(o.Promotion, target) {
			earlier, err := history.Before(ctx, o.observed(), target, "")
			if err := o.failures.SkipEnvironment(ctx, target.Environment, repo.IgnoreNotFound(err)); err != nil {
				return o, err
			}
			if err == nil {
				act := state.Act{By: identity.User{Login: "promoter", Bot: true}, At: o.Now, Reason: why}
				back = &state.RolledBack{Act: act, Images: map[string]string{}, Commit: earlier.Commit, Automatic: true}
				for component, pinned := range earlier.Snapshot {
					back.Images[component] = pinned.Reference()
				}
				for _, move := range promotion.ChangesOf(earlier.Snapshot, landed) {
					failed[move.Component] = landed[move.Component].Reference()
				}
				failure.Back = back.Images
				o.Promotion.Restored[target] = earlier.Snapshot
			} else if fault.KindOf(err) != fault.NotFound {
				continue
			}
		}
		o = o.withChanges(state.Fail(state.Target(target), failure, back, failed))
	}
	return o, nil
}

// mirrorHealth sets the health of landed snapshots as commit statuses, where they are not set
// already, and stores it. A forge that refuses one stops nothing.
func (x *executor) mirrorHealth(ctx context.Context) error {
	stored := map[health.Key]health.State{}
	for _, change := range x.o.Health {
		var err error
		if change.Mirror {
			err = x.r.Repository.Signals().SetStatus(ctx, change.Commit, statusOfHealth(change))
		}
		if errors.Is(err, scm.ErrProtectedHead) || errors.Is(err, scm.ErrStatusNotStored) {
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("set the status of %.7s: %w", change.Commit, err)
			if err := x.o.failures.AddOrStop(ctx, change.Context, err); err != nil {
				return err
			}
			continue
		}
		stored[change.Key] = change.State
	}
	if x.r.Evidence == nil || len(stored) == 0 {
		return nil
	}
	if err := x.r.Evidence.Store(ctx, stored); err != nil {
		return x.o.failures.AddOrStop(ctx, "health", fmt.Errorf("store it: %w", err))
	}
	return nil
}

func statusOfHealth(change landing.HealthChange) scm.Status {
	status := scm.Status{Context: change.Context, Description: change.Description(), State: scm.CheckPending}
	switch change.Status {
	case health.Healthy:
		status.State = scm.CheckPassed
	case health.Degraded, health.Missing:
		status.State = scm.CheckFailed
	}
	return status
}

// impossibleHealth returns which environments name a source of health that the forge does not
// have. Empty: none.
func impossibleHealth(o promotion.Observation, repository scm.Repository) string {
	features := repository.Features()
	for _, h := range o.Config.Healths() {
		switch source := h.Source(); {
		case source == health.Deployment && !features.Deployments:
			return fmt.Sprintf("%s: health.deployment: promoter cannot read deployments of this forge: use another source", h.Position)
		case !features.Statuses && (source == health.Check || source == health.Flux && h.From == ""):
			return fmt.Sprintf("%s: health.%s: this repository has no commit statuses, because it is plain Git: use a receiver, with from", h.Position, source)
		}
	}
	return ""
}
