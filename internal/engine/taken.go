package engine

import (
	"context"
	"slices"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/scm"
	"promoter/internal/state"
)

// takenOf returns the versions that stood in a place and do not now. Those that
// were gone already when the place was resumed are forgotten.
func (v *view) takenOf(ctx context.Context, target promotion.Target, found []promotion.Landing) ([]promotion.Reversion, error) {
	gone := slices.DeleteFunc(slices.Clone(found), func(l promotion.Landing) bool { return len(v.goneFrom(target, l)) == 0 })
	resumed := v.observed.State.ResumedAt(state.Target(target))
	var then promotion.Current
	if !resumed.IsZero() && len(gone) > 0 {
		var err error
		if then, err = v.presentAt(ctx, target, resumed); err != nil {
			return nil, err
		}
	}
	var taken []promotion.Reversion
	for _, l := range gone {
		forgets := !resumed.IsZero() && v.landedBefore(l, resumed)
		for _, component := range v.goneFrom(target, l) {
			version := l.Snapshot[component].Version
			if !forgets || holds(then, component, promotion.Pinned{Version: version}) {
				taken = append(taken, promotion.Reversion{Component: component, Version: version, Commit: l.Commit})
			}
		}
	}
	return taken, nil
}

// goneFrom returns the components of a landing of which the files of a place say
// another version now.
func (v *view) goneFrom(target promotion.Target, l promotion.Landing) []string {
	return slices.DeleteFunc(l.Snapshot.Components(), func(component string) bool {
		return holds(v.observed.Targets[target], component, l.Snapshot[component])
	})
}

// landedBefore goes by the time of the merge where a forge told it.
func (v *view) landedBefore(l promotion.Landing, at time.Time) bool {
	if !l.At.IsZero() {
		return !l.At.After(at)
	}
	commit, err := v.Objects.Commit(l.Commit)
	return err == nil && !commit.Committer.When.After(at)
}

// takenBack learns from a merged pull request what stood in its places: a way of
// merging may leave no trailers in Git.
func (v *view) takenBack(ctx context.Context, pr scm.PullRequest) error {
	target, _ := promotion.ParseHead(pr.Head.Branch)
	for _, landed := range promotion.ReadTrailers(v.Objects.Trailers(pr.Head.Message)) {
		if !speaksFor(target, landed.Target) {
			continue
		}
		taken, err := v.takenOf(ctx, landed.Target, []promotion.Landing{
			{Commit: pr.Merged.Commit, Snapshot: landed.Snapshot, At: pr.Merged.At},
		})
		if err != nil {
			return err
		}
		v.observed.Reverted[landed.Target] = append(v.observed.Reverted[landed.Target], taken...)
	}
	return nil
}

// presentAt returns what the files of a place said at a time.
func (v *view) presentAt(ctx context.Context, target promotion.Target, at time.Time) (promotion.Current, error) {
	for commit, err := range v.Objects.History(v.heads[v.baseOf(target)]) {
		if err != nil {
			return promotion.Current{}, err
		}
		if commit.Committer.When.After(at) && !commit.Shallow && len(commit.Parents) > 0 {
			continue
		}
		return v.presentIn(ctx, target, commit.ID)
	}
	return promotion.Current{}, nil
}
