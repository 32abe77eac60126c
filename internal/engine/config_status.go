package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// failedConfig is the name under which BranchMemory remembers the commit whose status
// reports a broken config. No branch can have it.
const failedConfig = "config: failed"

// configStatus sets our status on the head of the default branch if the config there is
// broken, where users see it who do not know the service. Other heads get none, except
// the first one after a failure.
type configStatus struct{ r *Reconciler }

// fail reports a broken config.
func (c configStatus) fail(ctx context.Context, o Observation) error {
	if !o.brokenConfig || c.r.DryRun {
		return nil
	}
	if err := c.set(ctx, o, pullrequest.StatusOfConfig(o.Unusable)); err != nil {
		return o.failures.AddOrStop(ctx, "branch "+o.Refs.Default, err)
	}
	if c.r.Memory == nil || c.r.Memory.Last()[failedConfig] != "" {
		return nil
	}
	heads := map[string]string{failedConfig: o.Heads[o.Refs.Default]}
	maps.Copy(heads, c.r.Memory.Last())
	branchWatch(c).remember(ctx, heads)
	return nil
}

// pass reports a valid config if the last one was broken. The branches are remembered
// later, which forgets the failure.
func (c configStatus) pass(ctx context.Context, o Observation) error {
	if c.r.Memory == nil || c.r.Memory.Last()[failedConfig] == "" {
		return nil
	}
	return o.failures.AddOrStop(ctx, "branch "+o.Refs.Default, c.set(ctx, o, pullrequest.StatusOfConfig("")))
}

// set sets the status, unless it is set already. A credential may have no right to set
// one on a protected branch.
func (c configStatus) set(ctx context.Context, o Observation, status scm.Status) error {
	if !c.r.Repository.Features().Statuses {
		return nil
	}
	head := o.Heads[o.Refs.Default]
	_, err := repo.ReadChecks(ctx, c.r.Repository.Signals(), head, o.Statuses)
	if err != nil && fault.KindOf(err) != fault.Unauthorized {
		return err
	}
	if set := o.Statuses[head]; set.State == status.State && set.Description == status.Description {
		return nil
	}
	if err = c.r.Repository.Signals().SetStatus(ctx, head, status); err != nil && !errors.Is(err, scm.ErrProtectedHead) && !errors.Is(err, scm.ErrStatusNotStored) {
		return fmt.Errorf("set its status: %w", err)
	}
	return nil
}
