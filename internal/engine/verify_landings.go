package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/promotion"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// maxVerified is how many commits of others are read again for one target.
const maxVerified = 50

// verify drops landings that the files of their commit contradict. Anyone who
// gets a commit merged can write trailers, and a wrong one would become a version to
// roll back to, or one that was reverted. Our own commits are not read again; files in
// a layout that the config no longer matches contradict nothing.
func (h historyReader) verify(ctx context.Context, target promotion.Target, found []promotion.Landing) ([]promotion.Landing, error) {
	var verified []promotion.Landing
	read := 0
	for _, l := range found {
		commit, err := h.objects.Commit(l.Commit)
		if err != nil {
			return nil, err
		}
		if !h.by.committed(commit) {
			if read++; read > maxVerified {
				continue
			}
			files, err := h.past.at(ctx, target, l.Commit)
			if err != nil {
				return nil, err
			}
			if len(files.References) > 0 && !containsSnapshot(files, l.Snapshot) {
				continue
			}
		}
		verified = append(verified, l)
	}
	return verified, nil
}

// pastFiles reads the references of earlier commits. A commit may have changed several
// applications: its files are read once for each environment.
type pastFiles struct {
	files  Files
	config *config.Config
	trees  map[string]Tree // by environment and commit
}

func (p *pastFiles) at(ctx context.Context, target promotion.Target, commit string) (promotion.Current, error) {
	key := target.Environment + " " + commit
	tree, read := p.trees[key]
	if !read {
		var err error
		if tree, err = p.files.At(ctx, p.config, commit, []string{target.Environment}); err != nil {
			return promotion.Current{}, fmt.Errorf("read the files of %.7s: %w", commit, err)
		}
		p.trees[key] = tree
	}
	return tree.Targets()[target], nil
}

// reverted returns the versions that landed in a target and are no longer
// there. Those that were gone already when the target was resumed are forgotten.
func (h historyReader) reverted(ctx context.Context, o Observation, target promotion.Target, found []promotion.Landing) ([]promotion.Reversion, error) {
	resumed := o.Promotion.State.ResumedAt(state.Target(target))
	var atResume *promotion.Current // read when it is needed
	var reverted []promotion.Reversion
	for _, l := range found {
		gone := slices.DeleteFunc(l.Snapshot.Components(), func(component string) bool {
			return containsVersion(o.Promotion.Targets[target], component, l.Snapshot[component])
		})
		if len(gone) == 0 {
			continue
		}
		if !resumed.IsZero() && atResume == nil {
			files, err := h.filesAt(ctx, o, target, resumed)
			if err != nil {
				return nil, err
			}
			atResume = &files
		}
		forgotten := !resumed.IsZero() && h.landedBefore(l, resumed)
		for _, component := range gone {
			version := l.Snapshot[component].Version
			if !forgotten || containsVersion(*atResume, component, promotion.Pinned{Version: version}) {
				reverted = append(reverted, promotion.Reversion{Component: component, Version: version, Commit: l.Commit})
			}
		}
	}
	return reverted, nil
}

// landedBefore compares with the time of the merge where a forge reports one.
func (h historyReader) landedBefore(l promotion.Landing, at time.Time) bool {
	if !l.At.IsZero() {
		return !l.At.After(at)
	}
	commit, err := h.objects.Commit(l.Commit)
	return err == nil && !commit.Committer.When.After(at)
}

// filesAt returns the files of a target at a time.
func (h historyReader) filesAt(ctx context.Context, o Observation, target promotion.Target, at time.Time) (promotion.Current, error) {
	for commit, err := range h.objects.History(o.Heads[o.baseOf(target)]) {
		if err != nil {
			return promotion.Current{}, err
		}
		if !commit.Committer.When.After(at) || commit.Shallow || len(commit.Parents) == 0 {
			return h.past.at(ctx, target, commit.ID)
		}
	}
	return promotion.Current{}, nil
}

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
		_, recorded := o.Promotion.State.SeenSince(state.Target(target), found[i].Snapshot.ID())
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
