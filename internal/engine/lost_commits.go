package engine

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/landing"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// BranchMemory remembers where branches were at the end of a reconciliation, so that the
// next one notices that a branch was deleted or moved back. It is an aid: without it, as
// after a mirror was recreated, nothing else changes.
type BranchMemory interface {
	// Last returns the remembered commits by branch.
	Last() map[string]string
	// Remember replaces them.
	Remember(heads map[string]string) error
}

// branchWatch compares the branches with those of the last reconciliation.
type branchWatch struct{ r *Reconciler }

// remembered returns the remembered commit of a branch that has moved since, if the commit
// is still readable.
func (w branchWatch) remembered(o Observation, branch string) (repo.Commit, bool) {
	if w.r.Memory == nil {
		return repo.Commit{}, false
	}
	last := w.r.Memory.Last()[branch]
	if last == "" || last == o.Heads[branch] {
		return repo.Commit{}, false
	}
	commit, err := w.r.Objects.Commit(last)
	return commit, err == nil
}

// restoreState adds what the state branch no longer has although no commit removed it. Any
// user who can push the branch can delete it, as does a cleanup of old branches, and that
// must not end holds and freezes.
func (w branchWatch) restoreState(ctx context.Context, o Observation) (Observation, error) {
	last, moved := w.remembered(o, state.Branch)
	if !moved {
		return o, nil
	}
	changes, what, err := w.r.StateBranch().Lost(ctx, o.Branch, last, o.Now)
	if err != nil {
		return o, err
	}
	if len(changes) > 0 {
		o.failures.Add(state.Branch, fault.New(fault.Invalid,
			"it was %s; the holds, freezes, and rejections of its commit %.7s are restored: end them with 'promoter resume' and 'promoter thaw'", what, last.ID))
	}
	return o.withChanges(changes...), nil
}

// rejectMovedBack treats a branch of environments that was moved back, as with git reset
// and a forced push, like reverts of what promoter landed in the lost commits: those
// versions are rejected where they are gone.
func (w branchWatch) rejectMovedBack(ctx context.Context, history landing.Reader, o Observation) (Observation, error) {
	for _, branch := range slices.Sorted(maps.Keys(o.Promotion.EnvironmentsByBranch())) {
		last, moved := w.remembered(o, branch)
		if !moved || o.Heads[branch] == "" {
			continue
		}
		landed, err := history.Lost(ctx, o.observed(), branch, last.ID)
		if err != nil {
			return o, err
		}
		reason := fmt.Sprintf("%s was moved back from %.7s to %.7s", branch, last.ID, o.Heads[branch])
		act := state.Act{By: identity.User{Login: "unknown"}, At: o.Now, Reason: reason}
		var changes []state.Change
		for _, l := range landed {
			if images := landing.ChangedBy(o.Promotion, l); len(images) > 0 {
				changes = append(changes, state.Reject(state.Target(l.Target), state.Rejection{Act: act, Images: images}))
			}
		}
		if len(changes) > 0 {
			o.failures.Add("branch "+branch, fault.New(fault.Invalid,
				"%s: what this removed is not proposed again; 'promoter resume' ends that", reason))
			o = o.withChanges(changes...)
		}
	}
	return o, nil
}

// rememberHeads remembers the branches after everything was read and written.
func (w branchWatch) rememberHeads(ctx context.Context, o Observation) {
	if w.r.Memory == nil {
		return
	}
	heads := map[string]string{}
	for branch := range o.Promotion.EnvironmentsByBranch() {
		heads[branch] = o.Heads[branch]
	}
	heads[state.Branch] = o.Heads[state.Branch]
	maps.DeleteFunc(heads, func(_, head string) bool { return head == "" })
	if !maps.Equal(heads, w.r.Memory.Last()) {
		w.remember(ctx, heads)
	}
}

func (w branchWatch) remember(ctx context.Context, heads map[string]string) {
	if err := w.r.Memory.Remember(heads); err != nil {
		w.r.Log.WarnContext(ctx, "branches not remembered", slog.Any("error", err))
	}
}
