package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/promotion"
)

// takenOf returns the versions that stood in a place and do not now. Those that
// were gone already when the place was resumed are forgotten.
func (v *view) takenOf(ctx context.Context, place promotion.Place, found []promotion.Landing) ([]promotion.Taken, error) {
	var taken []promotion.Taken
	for _, l := range found {
		for _, component := range l.Snapshot.Components() {
			if pinned := l.Snapshot[component]; !holds(v.observed.Places[place], component, pinned) {
				taken = append(taken, promotion.Taken{Component: component, Version: pinned.Version, Commit: l.Commit})
			}
		}
	}
	resumed := v.observed.State.ResumedAt(statePlace(place))
	if resumed.IsZero() || len(taken) == 0 {
		return taken, nil
	}
	then, err := v.presentAt(ctx, place, resumed)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(taken, func(t promotion.Taken) bool {
		return v.landedBefore(t.Commit, resumed) && !holds(then, t.Component, promotion.Pinned{Version: t.Version})
	}), nil
}

func (v *view) landedBefore(id string, at time.Time) bool {
	commit, err := v.Objects.Commit(id)
	return err == nil && !commit.Committer.When.After(at)
}

// presentAt returns what the files of a place said at a time.
func (v *view) presentAt(ctx context.Context, place promotion.Place, at time.Time) (promotion.Present, error) {
	for commit, err := range v.Objects.History(v.heads[v.baseOf(place)]) {
		if err != nil {
			return promotion.Present{}, err
		}
		if commit.Committer.When.After(at) && !commit.Shallow && len(commit.Parents) > 0 {
			continue
		}
		tree, err := v.Files.At(ctx, v.observed.Config, commit.ID, []string{place.Environment})
		if err != nil {
			return promotion.Present{}, fmt.Errorf("read the files of %.7s: %w", commit.ID, err)
		}
		return tree.Places()[place], nil
	}
	return promotion.Present{}, nil
}
