package landing

import (
	"context"
	"slices"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// This file finds the versions that landed and are gone: a user reverted them, or wrote others.
// They must not be promoted again, until a user allows that with unreject.

// reverted returns the versions that landed in the target and are no longer
// there. Those that were gone already when a user allowed them again are forgotten.
func (t targetReader) reverted(ctx context.Context, found []promotion.Landing) ([]promotion.Reversion, error) {
	allowed := map[time.Time]*atUnreject{} // read when it is needed
	var reverted []promotion.Reversion
	for _, l := range found {
		gone := slices.DeleteFunc(l.Snapshot.Components(), func(component string) bool {
			return ContainsVersion(t.o.Promotion.Targets[t.target], component, l.Snapshot[component])
		})
		for _, component := range gone {
			pinned := l.Snapshot[component]
			at := t.o.Promotion.State.UnrejectedAt(state.Target(t.target), pinned.Repository, pinned.Version)
			if _, read := allowed[at]; !read && !at.IsZero() {
				var err error
				if allowed[at], err = t.atUnreject(ctx, at); err != nil {
					return nil, err
				}
			}
			if then := allowed[at]; then != nil && then.forgets(l, component) {
				continue
			}
			gone := promotion.Reversion{Component: component, Version: l.Snapshot[component].Version, Commit: l.Commit}
			reverted = append(reverted, gone)
		}
	}
	return reverted, nil
}

// RevertedMerge returns the versions of a merged pull request that are no longer in the
// target. The merge may have left no trailers in Git; files that contradict it count.
func (r Reader) RevertedMerge(
	ctx context.Context, o Observed, landed promotion.Landed, merge string, at time.Time,
) ([]promotion.Reversion, error) {
	c := claim{Landed: landed, commit: merge, inherited: true}
	if _, err := r.Objects.Commit(merge); err == nil {
		verdicts, err := r.prover(o).verdicts(ctx, []claim{c})
		if err != nil || verdicts[claimKey(r.Past, c)].Why != "" {
			return nil, err
		}
	}
	return r.in(o, landed.Target).reverted(ctx, []promotion.Landing{{Commit: merge, Snapshot: landed.Snapshot, At: at}})
}

// maxSkew is how far the clock of this process may be behind those that wrote commits. A commit
// of a later time has a wrong one.
const maxSkew = time.Hour

// atUnreject is the target at the time when a user allowed versions again. Any user can set the time of a
// commit, so there may be two commits that had been the last one.
type atUnreject struct {
	allowed time.Time
	before  map[string]bool // the commits that were there for certain
	files   []promotion.Current
}

func (t targetReader) atUnreject(ctx context.Context, allowed time.Time) (*atUnreject, error) {
	var ids []string
	newest := -1 // the newest that claims to be from before
	certain := 0 // from here on, all were there: no older one claims to be from later
	for commit, err := range repo.FirstParents(t.from.Objects, t.head(), maxCommits) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, commit.ID)
		switch when := commit.Committer.When; {
		case !when.After(allowed) && newest < 0:
			newest = len(ids) - 1
		case when.After(allowed) && !when.After(t.o.Now.Add(maxSkew)):
			certain = len(ids)
		}
	}
	then := &atUnreject{allowed: allowed, before: map[string]bool{}}
	if len(ids) == 0 {
		return then, nil
	}
	if newest < 0 {
		newest = len(ids) - 1
	}
	for _, id := range ids[certain:] {
		then.before[id] = true
	}
	last := []string{ids[newest], ids[min(certain, len(ids)-1)]}
	for _, id := range slices.Compact(last) {
		files, err := t.from.Past.At(ctx, t.target, id)
		if err != nil {
			return nil, err
		}
		then.files = append(then.files, files)
	}
	return then, nil
}

// forgets reports whether a version had landed, and was gone, when it was allowed again. A
// time of the forge is preferred.
func (r atUnreject) forgets(l promotion.Landing, component string) bool {
	landed := r.before[l.Commit]
	if !l.At.IsZero() {
		landed = !l.At.After(r.allowed)
	}
	return landed && !slices.ContainsFunc(r.files, func(files promotion.Current) bool {
		return ContainsVersion(files, component, promotion.Pinned{Version: l.Snapshot[component].Version})
	})
}
