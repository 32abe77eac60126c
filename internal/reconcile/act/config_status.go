package act

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/observe"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// failedConfig is the name under which BranchMemory remembers the commit whose status
// reports a broken config. No branch can have it.
const failedConfig = "config: failed"

// FailConfig sets our status on the head of the default branch if the config there is
// broken, where users see it who do not know the service. Other heads get none, except
// the first one after a failure. It returns the observation with what failed.
func FailConfig(ctx context.Context, c observe.Clients, o observe.Observation, lastAttempt bool) (observe.Observation, error) {
	if !o.BrokenConfig {
		return o, nil
	}
	if err := setConfigStatus(ctx, c, o, pullrequest.StatusOfConfig(o.Unusable)); err != nil {
		failures := repo.Collect(o.Failures, lastAttempt)
		stop := failures.AddOrStop(ctx, "branch "+o.Refs.Default, err)
		o.Failures = failures.Failures()
		return o, stop
	}
	if c.Branches == nil || c.Branches.Last()[failedConfig] != "" {
		return o, nil
	}
	heads := map[string]string{failedConfig: o.Heads[o.Refs.Default]}
	maps.Copy(heads, c.Branches.Last())
	remember(ctx, c, heads)
	return o, nil
}

// passConfig reports a valid config if the last one was broken. The branches are remembered
// later, which forgets the failure.
func passConfig(ctx context.Context, c observe.Clients, o observe.Observation, failures *repo.Collector) error {
	if c.Branches == nil || c.Branches.Last()[failedConfig] == "" {
		return nil
	}
	return failures.AddOrStop(ctx, "branch "+o.Refs.Default, setConfigStatus(ctx, c, o, pullrequest.StatusOfConfig("")))
}

// setConfigStatus sets the status, unless it is set already. A credential may have no right to set
// one on a protected branch.
func setConfigStatus(ctx context.Context, c observe.Clients, o observe.Observation, status scm.Status) error {
	if !c.Forge.Features().Statuses {
		return nil
	}
	head := o.Heads[o.Refs.Default]
	_, err := repo.ReadChecks(ctx, c.Forge.Signals(), head, o.Statuses)
	if err != nil && fault.KindOf(err) != fault.Unauthorized {
		return err
	}
	if set := o.Statuses[head]; set.State == status.State && set.Description == status.Description {
		return nil
	}
	err = c.Forge.Signals().SetStatus(ctx, head, status)
	if err != nil && !errors.Is(err, scm.ErrProtectedHead) && !errors.Is(err, scm.ErrStatusNotStored) {
		return fmt.Errorf("set its status: %w", err)
	}
	return nil
}
