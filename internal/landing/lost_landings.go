package landing

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// Lost returns what landed in the commits that a branch of environments has lost since it was
// at a commit, by target.
func (h Reader) Lost(ctx context.Context, o Observed, branch, last string) ([]promotion.Landed, error) {
	lost, err := lostCommits(h.Objects, o.Heads[branch], last)
	if err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", branch, err)
	}
	var claims []claim
	for _, commit := range lost {
		claims = append(claims, slices.DeleteFunc(claimsOf(h.Objects, commit), func(c claim) bool { return o.Promotion.BaseOf(c.Target) != branch })...)
	}
	verified, err := h.verify(ctx, o, claims)
	if err != nil {
		return nil, fmt.Errorf("read what %s has lost: %w", branch, err)
	}
	var all []promotion.Landed
	for _, target := range slices.SortedFunc(maps.Keys(verified), promotion.Target.Compare) {
		for _, l := range verified[target].all() {
			all = append(all, promotion.Landed{Target: target, Snapshot: l.Snapshot})
		}
	}
	return all, nil
}

// lostCommits returns the first-parent commits of a former head that a head of the same
// branch does not contain, newest first. It returns none if the head contains the former
// one, or if the readable history does not show where they part.
func lostCommits(objects repo.Objects, head, last string) ([]repo.Commit, error) {
	var former []repo.Commit
	position := map[string]int{}
	for commit, err := range objects.History(last) {
		if err != nil {
			return nil, err
		}
		position[commit.ID] = len(former)
		if former = append(former, commit); len(former) == maxCommits {
			break
		}
	}
	// A merge may have the former head as its second parent. What precedes a commit of the
	// former history is not searched.
	shared := -1
	for next, seen := []string{head}, map[string]bool{}; len(next) > 0 && len(seen) < maxCommits; {
		id := next[0]
		if next = next[1:]; seen[id] {
			continue
		}
		seen[id] = true
		at, known := position[id]
		switch {
		case known && at == 0:
			return nil, nil // the head contains it
		case known:
			if shared < 0 || at < shared {
				shared = at
			}
			continue
		}
		commit, err := objects.Commit(id)
		if err != nil || commit.Shallow {
			return nil, nil // the history ends before it shows anything
		}
		next = append(next, commit.Parents...)
	}
	return former[:max(shared, 0)], nil
}
