package view

import (
	"context"
	"encoding/json"
	"fmt"

	"promoter/internal/drift"
	"promoter/internal/fault"
)

// Drift returns what differs in each repository that has differences, by its key, as its last
// reconciliation found it. It is not restricted to what a principal may read.
func (v *View) Drift(ctx context.Context) (map[string][]drift.Drift, error) {
	stored, err := v.Store.Drift(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[string][]drift.Drift, len(stored))
	for key, text := range stored {
		var found []drift.Drift
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			return nil, fault.Wrap(fault.Internal, fmt.Errorf("drift of %s: %w", key, err))
		}
		all[key] = found
	}
	return all, nil
}
