package observe

import (
	"context"
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
func (r Reader) readReports(ctx context.Context, o Observation) (Observation, error) {
	receivers := o.Promotion.Config.Receivers()
	if r.Clients.Evidence == nil || len(receivers) == 0 {
		return o, nil
	}
	reports, err := r.Clients.Evidence.Reports(ctx, receivers)
	if err != nil {
		return o, fmt.Errorf("read what was reported about health: %w", err)
	}
	o.Reports = reports
	return o, nil
}

// recordFailures records which landed snapshots have failed and, with onFailure: rollback,
// that their targets return to the versions of before. Both are decided once, on the state
// branch, so that they happen once.
func recordFailures(ctx context.Context, history landing.Reader, o Observation, failures *repo.Collector) (Observation, error) {
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
			earlier, err := history.Before(ctx, o.Landed(), target, "")
			if err := failures.SkipEnvironment(ctx, target.Environment, repo.IgnoreNotFound(err)); err != nil {
				return o, err
			}
			if err == nil {
				act := state.Act{By: identity.User{Login: "promoter", Bot: true}, At: o.Now, Reason: why}
				back = &state.RolledBack{Act: act, Images: map[string]string{}, From: earlier.Left, Commit: earlier.Commit, Automatic: true}
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
		o = o.WithChanges(state.Fail(state.Target(target), failure, back, failed))
	}
	return o.with(failures), nil
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
			return fmt.Sprintf("%s: health.%s: this repository has no commit statuses, because it is plain Git: use a receiver, with from",
				h.Position, source)
		}
	}
	return ""
}
