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
// They must not be promoted again, until a user resumes the target.

// reverted returns the versions that landed in the target and are no longer
// there. Those that were gone already when the target was resumed are forgotten.
func (t targetReader) reverted(ctx context.Context, found []promotion.Landing) ([]promotion.Reversion, error) {
	resumed := t.o.Promotion.State.ResumedAt(state.Target(t.target))
	var then *atResume // read when it is needed
	var reverted []promotion.Reversion
	for _, l := range found {
		gone := slices.DeleteFunc(l.Snapshot.Components(), func(component string) bool {
			return ContainsVersion(t.o.Promotion.Targets[t.target], component, l.Snapshot[component])
		})
		if len(gone) > 0 && !resumed.IsZero() && then == nil {
			var err error
			if then, err = t.atResume(ctx, resumed); err != nil {
				return nil, err
			}
		}
		for _, component := range gone {
			if then != nil && then.forgets(l, component) {
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

// atResume is the target at the time when a user resumed it. Any user can set the time of a
// commit, so there may be two commits that had been the last one.
type atResume struct {
	resumed time.Time
	before  map[string]bool // the commits that were there for certain
	files   []promotion.Current
}

func (t targetReader) atResume(ctx context.Context, resumed time.Time) (*atResume, error) {
	var ids []string
	newest := -1 // the newest that claims to be from before
	certain := 0 // from here on, all were there: no older one claims to be from later
	for commit, err := range repo.FirstParents(t.from.Objects, t.head(), maxCommits) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, commit.ID)
		switch when := commit.Committer.When; {
		case !when.After(resumed) && newest < 0:
			newest = len(ids) - 1
		case when.After(resumed) && !when.After(t.o.Now.Add(maxSkew)):
			certain = len(ids)
		}
	}
	then := &atResume{resumed: resumed, before: map[string]bool{}}
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

// forgets reports whether a version had landed, and was gone, when the target was resumed. A
// time of the forge is preferred.
func (r atResume) forgets(l promotion.Landing, component string) bool {
	landed := r.before[l.Commit]
	if !l.At.IsZero() {
		landed = !l.At.After(r.resumed)
	}
	return landed && !slices.ContainsFunc(r.files, func(files promotion.Current) bool {
		return ContainsVersion(files, component, promotion.Pinned{Version: l.Snapshot[component].Version})
	})
}
