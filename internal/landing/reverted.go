package landing

import (
	"context"
	"maps"
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
			act := t.o.Promotion.State.Unrejected(state.Target(t.target), pinned.Repository, pinned.Version)
			if _, read := allowed[act.At]; !read && !act.At.IsZero() {
				var err error
				if allowed[act.At], err = t.atUnreject(ctx, act); err != nil {
					return nil, err
				}
			}
			if then := allowed[act.At]; then != nil && then.forgets(l, component) {
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

// atUnreject is the target at the time when a user allowed versions again. If the heads that the decision saw are not
// recorded, such as for a command in a comment, the times of commits decide, which any user can set: there may be two
// commits that had been the last one.
type atUnreject struct {
	allowed time.Time
	before  map[string]bool // the commits that were there for certain
	since   map[string]bool // the commits that came later for certain
	lost    bool            // the branch does not contain what the decision saw: the order is not provable
	files   []promotion.Current
}

func (t targetReader) atUnreject(ctx context.Context, act state.Act) (*atUnreject, error) {
	if act.Location == nil {
		return t.atUnrejectByTime(ctx, act.At)
	}
	branch := t.o.Promotion.BaseOf(t.target)
	recorded := branch
	if branch == t.o.Promotion.DefaultBranch {
		recorded = ""
	}
	head := act.Location.Heads[recorded]
	if head == "" {
		return t.atUnrejectByTime(ctx, act.At)
	}
	then := &atUnreject{allowed: act.At, before: map[string]bool{}, since: map[string]bool{}}
	if tip := t.head(); head != tip {
		contained, err := t.from.Follows(ctx, branch, tip, head, act.At)
		if then.lost = !contained; err != nil || then.lost {
			return then, err
		}
		if then.since, err = firstParents(t.from.Objects, tip); err != nil {
			return then, err
		}
	}
	var err error
	if then.before, err = firstParents(t.from.Objects, head); err != nil {
		return then, err
	}
	maps.DeleteFunc(then.since, func(id string, _ bool) bool { return then.before[id] })
	files, err := t.from.Past.At(ctx, t.target, head)
	then.files = []promotion.Current{files}
	return then, err
}

// firstParents returns the newest commits of a head.
func firstParents(objects repo.Commits, head string) (map[string]bool, error) {
	ids := map[string]bool{}
	for commit, err := range repo.FirstParents(objects, head, maxCommits) {
		if err != nil {
			return nil, err
		}
		ids[commit.ID] = true
	}
	return ids, nil
}

func (t targetReader) atUnrejectByTime(ctx context.Context, allowed time.Time) (*atUnreject, error) {
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

// forgets reports whether a version had landed, and was gone, when it was allowed again. What the decision
// saw proves that, else a time of the forge is preferred.
func (r atUnreject) forgets(l promotion.Landing, component string) bool {
	landed := r.before[l.Commit]
	if known := r.since != nil && (landed || r.since[l.Commit]); !known && !l.At.IsZero() {
		landed = !l.At.After(r.allowed)
	}
	return landed && !r.lost && !slices.ContainsFunc(r.files, func(files promotion.Current) bool {
		return ContainsVersion(files, component, promotion.Pinned{Version: l.Snapshot[component].Version})
	})
}
