package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"promoter/internal/config"
	"promoter/internal/promotion"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// addMerged adds what only the forge knows about landings. Those of merged pull
// requests get the time of the merge. A landed commit without trailers, such as a
// squash with another message, gets them from the head that was merged; when the files
// have moved on since then, it is put where its commit is in the history.
func (h historyReader) addMerged(ctx context.Context, o Observation, target promotion.Target, found []promotion.Landing) ([]promotion.Landing, error) {
	merged, err := h.mergedPullRequests(ctx, o, target, found)
	if err != nil {
		return nil, err
	}
	var older []promotion.Landing
	for _, pr := range merged {
		for _, landed := range promotion.ReadTrailers(h.objects.Trailers(pr.Head.Message)) {
			if landed.Target != target {
				continue
			}
			id := landed.Snapshot.ID()
			i := slices.IndexFunc(found, func(l promotion.Landing) bool { return l.Snapshot.ID() == id && l.Number == 0 })
			landing := promotion.Landing{Commit: pr.Merged.Commit, Number: pr.Number, Snapshot: landed.Snapshot, At: pr.Merged.At}
			switch {
			case i >= 0:
				found[i].Number, found[i].At = pr.Number, pr.Merged.At
			case o.currentIndex(target, found) < 0 && o.isCurrent(target, landed.Snapshot):
				found = slices.Insert(found, 0, landing)
			default:
				older = append(older, landing)
			}
		}
	}
	if len(older) == 0 {
		return found, nil
	}

	// Those whose commit is not readable, or whose files contradict them, are dropped.
	position := map[string]int{}
	for commit, err := range h.objects.History(o.Heads[o.baseOf(target)]) {
		if err != nil {
			return nil, err
		}
		if position[commit.ID] = len(position) + 1; len(position) == maxCommits {
			break
		}
	}
	older = slices.DeleteFunc(older, func(l promotion.Landing) bool { return position[l.Commit] == 0 })
	if older, err = h.verify(ctx, target, older); err != nil {
		return nil, err
	}
	all := slices.Concat(found, older)
	slices.SortStableFunc(all, func(a, b promotion.Landing) int { return cmp.Compare(position[a.Commit], position[b.Commit]) })
	return all, nil
}

// mergedPullRequests asks the forge for the merged pull requests of a target, unless
// the time of its current landing is recorded, or does not matter.
func (h historyReader) mergedPullRequests(ctx context.Context, o Observation, target promotion.Target, found []promotion.Landing) ([]scm.PullRequest, error) {
	settings := o.Promotion.Settings(target.Environment, target.Application)
	if o.Promotion.PushOnly || settings.Land == config.LandPush {
		return nil, nil
	}
	if i := o.currentIndex(target, found); i >= 0 {
		_, recorded := o.Promotion.State.SeenAt(state.Target(target), found[i].Snapshot.ID())
		// The time matters to a child that soaks, or when the target was resumed.
		matters := o.anyChild(target, soaks) || !o.Promotion.State.ResumedAt(state.Target(target)).IsZero()
		if recorded || !matters {
			return nil, nil
		}
	}
	head := promotion.HeadBranch(target.Environment, target.Application)
	if settings.PullRequest.Group == config.GroupEnvironment {
		head = promotion.GroupBranch(target.Environment)
	}
	closed, err := h.repository.PullRequests().Closed(ctx, head, maxClosed)
	if err != nil {
		return nil, fmt.Errorf("list the merged pull requests of %s: %w", head, err)
	}
	return slices.DeleteFunc(closed, func(pr scm.PullRequest) bool { return pr.State != scm.StateMerged || !pr.Head.Own }), nil
}
