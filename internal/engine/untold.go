package engine

import (
	"cmp"
	"context"
	"slices"

	"promoter/internal/promotion"
)

// withUntold puts landings of which Git tells nothing, such as a squash by hand,
// where their commits stand in the history. Those that are not readable there, or
// of which the files say something else, are left out.
func (v *view) withUntold(ctx context.Context, target promotion.Target, found, untold []promotion.Landing) ([]promotion.Landing, error) {
	if len(untold) == 0 {
		return found, nil
	}
	at := map[string]int{}
	for commit, err := range v.Objects.History(v.heads[v.baseOf(target)]) {
		if err != nil {
			return nil, err
		}
		if at[commit.ID] = len(at) + 1; len(at) == maxCommits {
			break
		}
	}
	untold = slices.DeleteFunc(untold, func(l promotion.Landing) bool { return at[l.Commit] == 0 })
	untold, err := v.believed(ctx, target, untold)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(found, untold)
	slices.SortStableFunc(all, func(a, b promotion.Landing) int { return cmp.Compare(at[a.Commit], at[b.Commit]) })
	return all, nil
}
