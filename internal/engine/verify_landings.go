package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/promotion"
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
