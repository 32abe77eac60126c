package view

import (
	"context"
	"encoding/json"
	"fmt"

	"promoter/internal/drift"
	"promoter/internal/fault"
	"promoter/internal/store"
)

// Drift returns what differs in each repository that has differences, by its key, as its last
// reconciliation found it. It is for operators: it is not restricted to what a principal may read.
func Drift(ctx context.Context, stored *store.Store) (map[string][]drift.Drift, error) {
	texts, err := stored.Targets.Drift(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[string][]drift.Drift, len(texts))
	for key, text := range texts {
		var found []drift.Drift
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			return nil, fault.Wrap(fault.Internal, fmt.Errorf("drift of %s: %w", key, err))
		}
		all[key] = found
	}
	return all, nil
}

// driftByTarget returns the differences in each target of all repositories. Those of a repository
// as a whole are in none.
func (v *View) driftByTarget(ctx context.Context) (map[store.TargetKey][]drift.Drift, error) {
	all, err := Drift(ctx, v.Store)
	if err != nil {
		return nil, err
	}
	byTarget := map[store.TargetKey][]drift.Drift{}
	for key, found := range all {
		for _, d := range found {
			target := store.TargetKey{Repository: key, Environment: d.Environment, Application: d.Application}
			byTarget[target] = append(byTarget[target], d)
		}
	}
	return byTarget, nil
}
