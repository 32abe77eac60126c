package landing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// This file checks times that were recorded before the first seal, when an administrator wants to adopt them. Any user who
// may push can have written them, so what the branch and the forge prove to be wrong is refused.

// Unsealed is a time that was recorded without a seal, and what is known about it.
type Unsealed struct {
	state.Seen                    // with its commit, if one is known
	Snapshot   promotion.Snapshot // that the commit has; nil: it is unknown
	Refused    string             // why it may not count; empty: it may
}

// Unsealed returns the times of a target that do not count because they have no seal, the oldest first.
func (r Reader) Unsealed(ctx context.Context, o Observed, target promotion.Target) ([]Unsealed, error) {
	times := o.Promotion.State.At(state.Target(target)).UnsealedSeen
	if len(times) == 0 {
		return nil, nil
	}
	if _, present := o.Promotion.Targets[target]; !present {
		return []Unsealed{{Seen: times[len(times)-1], Refused: "the target is gone"}}, nil
	}
	// Without what is recorded since, the history has only what the forge proves.
	o.Promotion.State = o.Promotion.State.With(state.Target(target), func(r *state.Record) { r.Seen = nil })
	t := r.in(o, target)
	landings, err := t.landings(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", o.Promotion.BaseOf(target), err)
	}
	var all []Unsealed
	for _, one := range times {
		checked, err := t.unsealed(ctx, one, landings)
		if err != nil {
			return nil, err
		}
		all = append(all, checked)
	}
	return all, nil
}

// unsealed checks one time. It may count from the commit on that had the versions, and no earlier than the forge reports.
func (t targetReader) unsealed(ctx context.Context, of state.Seen, landings []promotion.Landing) (Unsealed, error) {
	checked := Unsealed{Seen: of}
	i := slices.IndexFunc(landings, func(l promotion.Landing) bool {
		return of.Commit == "" && l.Snapshot.ID() == of.Snapshot || of.Commit != "" && (l.First == of.Commit || l.Commit == of.Commit)
	})
	var merged time.Time
	if i >= 0 {
		merged, checked.Commit = landings[i].At, landings[i].First
		checked.Snapshot = landings[i].Snapshot
	}
	commit, found, err := t.onBranch(checked.Commit)
	switch {
	case err != nil:
		return checked, err
	case !found:
		checked.Refused = "the history of " + t.o.Promotion.BaseOf(t.target) + " has no commit that it is about"
		return checked, nil
	case checked.Snapshot == nil:
		files, read, err := t.from.Past.Try(ctx, t.target, commit.ID)
		if err := repo.IgnoreNotFound(err); err != nil {
			return checked, err
		}
		if read {
			checked.Snapshot = written(files)
		}
	}
	wrote := commit.Committer.When
	switch {
	case len(checked.Snapshot) == 0:
		checked.Refused = fmt.Sprintf("commit %.7s has no versions", commit.ID)
	case of.At.After(t.o.Now):
		checked.Refused = "it is in the future"
	case of.At.Before(wrote.Truncate(time.Second)):
		checked.Refused = fmt.Sprintf("commit %.7s, which has the versions, is of %s", commit.ID, promotion.Moment(wrote))
	case of.At.Before(merged.Truncate(time.Second)):
		checked.Refused = "the forge reports " + promotion.Moment(merged)
	}
	return checked, nil
}

// onBranch returns a commit of the first-parent history of the branch; false: it is not there.
func (t targetReader) onBranch(id string) (repo.Commit, bool, error) {
	if id == "" {
		return repo.Commit{}, false, nil
	}
	for commit, err := range repo.FirstParents(t.from.Objects, t.head(), maxWalked) {
		if err != nil || commit.ID == id {
			return commit, err == nil, err
		}
	}
	return repo.Commit{}, false, nil
}
