package landing

import (
	"context"
	"slices"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

// reverted returns the versions that landed in a target and are no longer
// there. Those that were gone already when the target was resumed are forgotten.
func (h Reader) reverted(ctx context.Context, o Observed, target promotion.Target, found []promotion.Landing) ([]promotion.Reversion, error) {
	resumed := o.Promotion.State.ResumedAt(state.Target(target))
	var then *atResume // read when it is needed
	var reverted []promotion.Reversion
	for _, l := range found {
		gone := slices.DeleteFunc(l.Snapshot.Components(), func(component string) bool {
			return ContainsVersion(o.Promotion.Targets[target], component, l.Snapshot[component])
		})
		if len(gone) > 0 && !resumed.IsZero() && then == nil {
			var err error
			if then, err = h.atResume(ctx, o, target, resumed); err != nil {
				return nil, err
			}
		}
		for _, component := range gone {
			version := l.Snapshot[component].Version
			if then == nil || !then.forgets(l, component) {
				reverted = append(reverted, promotion.Reversion{Component: component, Version: version, Commit: l.Commit})
			}
		}
	}
	return reverted, nil
}

// RevertedMerge returns the versions of a merged pull request that are no longer in the
// target. The merge may have left no trailers in Git; files that contradict it count.
func (h Reader) RevertedMerge(ctx context.Context, o Observed, landed promotion.Landed, merge string, at time.Time) ([]promotion.Reversion, error) {
	c := claim{Landed: landed, commit: merge, inherited: true}
	if _, err := h.Objects.Commit(merge); err == nil {
		verdicts, err := h.verdicts(ctx, o, []claim{c})
		if err != nil || verdicts[claimKey(h.Past, c)].Why != "" {
			return nil, err
		}
	}
	return h.reverted(ctx, o, landed.Target, []promotion.Landing{{Commit: merge, Snapshot: landed.Snapshot, At: at}})
}

// maxSkew is how far the clock of this process may be behind those that wrote commits. A commit
// of a later time has a wrong one.
const maxSkew = time.Hour

// atResume is a target at the time when a user resumed it. Any user can set the time of a
// commit, so there may be two commits that had been the last one.
type atResume struct {
	resumed time.Time
	before  map[string]bool // the commits that were there for certain
	files   []promotion.Current
}

func (h Reader) atResume(ctx context.Context, o Observed, target promotion.Target, resumed time.Time) (*atResume, error) {
	var ids []string
	newest, certain := -1, 0 // the newest that claims to be from before, and before which none is later
	for commit, err := range h.Objects.History(o.Heads[o.Promotion.BaseOf(target)]) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, commit.ID)
		switch when := commit.Committer.When; {
		case !when.After(resumed) && newest < 0:
			newest = len(ids) - 1
		case when.After(resumed) && !when.After(o.Now.Add(maxSkew)):
			certain = len(ids)
		}
		if len(ids) == maxCommits {
			break
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
		files, err := h.Past.At(ctx, target, id)
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
