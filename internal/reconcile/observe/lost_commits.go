package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/landing"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// remembered returns the remembered commit of a branch that has moved since, if the commit
// is still readable.
func remembered(c Clients, o Observation, branch string) (repo.Commit, bool) {
	if c.Branches == nil {
		return repo.Commit{}, false
	}
	last := c.Branches.Last()[branch]
	if last == "" || last == o.Heads[branch] {
		return repo.Commit{}, false
	}
	commit, err := c.Objects.Commit(last)
	return commit, err == nil
}

// restoreState adds what the state branch no longer has although no commit removed it. Any
// user who can push the branch can delete it, as does a cleanup of old branches, and that
// must not end holds and freezes.
func restoreState(ctx context.Context, c Clients, o Observation, failures *repo.Collector) (Observation, error) {
	last, moved := remembered(c, o, state.Branch)
	if !moved {
		return o, nil
	}
	changes, what, err := c.StateBranch().Lost(ctx, o.Branch, last, o.Now)
	if err != nil {
		return o, err
	}
	if len(changes) > 0 {
		const restored = "it was %s; the holds, freezes, and rejections of its commit %.7s are restored: " +
			"end them with 'promoter resume', 'promoter unreject', and 'promoter thaw'"
		failures.Incident(state.Branch, fault.New(fault.Invalid, restored, what, last.ID))
	}
	return o.WithChanges(changes...), nil
}

// rejectMovedBack treats a branch of environments that was moved back, as with git reset
// and a forced push, like reverts of what promoter landed in the lost commits: those
// versions are rejected where they are gone.
func rejectMovedBack(ctx context.Context, c Clients, history landing.Reader, o Observation, failures *repo.Collector) (Observation, error) {
	for _, branch := range slices.Sorted(maps.Keys(o.Promotion.EnvironmentsByBranch())) {
		last, moved := remembered(c, o, branch)
		if !moved || o.Heads[branch] == "" {
			continue
		}
		landed, err := history.Lost(ctx, o.Landed(), branch, last.ID)
		if err != nil {
			return o, err
		}
		reason := fmt.Sprintf("%s was moved back from %.7s to %.7s", branch, last.ID, o.Heads[branch])
		act := state.Act{By: identity.User{Login: "unknown"}, At: o.Now, Reason: reason}
		var changes []state.Change
		for _, l := range landed {
			if images := landing.ChangedBy(o.Promotion, l); len(images) > 0 {
				rejection := state.Rejection{Act: act, Images: images, MovedBack: true}
				changes = append(changes, state.Reject(state.Target(l.Target), rejection))
			}
		}
		if len(changes) > 0 {
			failures.Incident("branch "+branch, fault.New(fault.Invalid,
				"%s: what this removed is not proposed again; 'promoter unreject' with the versions ends that", reason))
			o = o.WithChanges(changes...)
		}
	}
	return o, nil
}
