package act

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"

	"promoter/internal/health"
	"promoter/internal/landing"
	"promoter/internal/reconcile/observe"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// rememberHeads remembers the branches after everything was read and written.
func rememberHeads(ctx context.Context, c observe.Clients, o observe.Observation) {
	if c.Branches == nil {
		return
	}
	heads := map[string]string{}
	for branch := range o.Promotion.EnvironmentsByBranch() {
		heads[branch] = o.Heads[branch]
	}
	heads[state.Branch] = o.Heads[state.Branch]
	maps.DeleteFunc(heads, func(_, head string) bool { return head == "" })
	if !maps.Equal(heads, c.Branches.Last()) {
		remember(ctx, c, heads)
	}
}

func remember(ctx context.Context, c observe.Clients, heads map[string]string) {
	if err := c.Branches.Remember(heads); err != nil {
		c.Log.WarnContext(ctx, "branches not remembered", slog.Any("error", err))
	}
}

// storeHealth sets the health of landed snapshots as commit statuses, where they are not set
// already, and stores it. A forge that refuses one stops nothing.
func storeHealth(ctx context.Context, c observe.Clients, changes []landing.HealthChange, failures *repo.Collector) error {
	stored := map[health.Key]health.State{}
	for _, change := range changes {
		var err error
		if change.Mirror {
			err = c.Forge.Signals().SetStatus(ctx, change.Commit, statusOfHealth(change))
		}
		if errors.Is(err, scm.ErrProtectedHead) || errors.Is(err, scm.ErrStatusNotStored) {
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("set the status of %.7s: %w", change.Commit, err)
			if err := failures.AddOrStop(ctx, change.Context, err); err != nil {
				return err
			}
			continue
		}
		stored[change.Key] = change.State
	}
	if c.Evidence == nil || len(stored) == 0 {
		return nil
	}
	if err := c.Evidence.Store(ctx, stored); err != nil {
		return failures.AddOrStop(ctx, "health", fmt.Errorf("store it: %w", err))
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
