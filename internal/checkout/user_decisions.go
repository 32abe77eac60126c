package checkout

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/object"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// maxStateFile is the largest file of the state branch that is read. A larger one is
// unreadable, so it holds its target.
const maxStateFile = 1 << 20

// userDecisions returns the decisions on the state branch of the clone, as it was last
// fetched: holds, freezes, and rejections. It is empty outside of a clone, and in a folder
// that is not the root of one: its config is not the one that the branch is about.
//
// Requests and rollbacks have no effect in a checkout: only promoter carries them out. The
// hold of a rollback remains, and what it leaves does not go downstream.
func (c *Checkout) userDecisions() (state.State, error) {
	clone, err := git.OpenCheckout(c.dir)
	if err != nil || !clone.IsRoot() || c.explicit != nil {
		return state.State{}, nil //nolint:nilerr // a clone that cannot be read has no decisions; where branches need it, Open fails
	}
	tree, err := clone.Remote(state.Branch)
	if fault.KindOf(err) == fault.NotFound {
		return state.State{}, nil
	}
	if err != nil {
		return state.State{}, err
	}
	var listing error
	read, err := state.Read(func(yield func(string, []byte) bool) {
		for entry, failed := range tree.Files() {
			if listing = failed; failed != nil {
				return
			}
			if entry.Mode != object.Regular {
				continue
			}
			content, failed := entry.Read(maxStateFile)
			if failed != nil || len(content) > maxStateFile {
				content = nil // which is no record, so the target is on hold
			}
			if !yield(entry.Path, content) {
				return
			}
		}
	})
	if err := errors.Join(listing, err); err != nil { // a part of the branch may lack a hold
		return state.State{}, fmt.Errorf("read origin/%s: %w", state.Branch, err)
	}
	for _, target := range read.Targets() {
		read = read.With(target, func(r *state.Record) {
			if r.Rollback != nil && r.Hold != nil {
				r.Hold.Reason = strings.TrimSuffix("rolled back: "+r.Hold.Reason, ": ")
			}
			r.Request = nil
			if r.Rollback != nil {
				r.Rollback = &state.RolledBack{Act: r.Rollback.Act, From: r.Rollback.From}
			}
		})
	}
	return read, nil
}

// endOverruled ends rejections by closes, and by branches that were moved back, of versions that the files have: a
// commit after the decision brought them, or an edit that is not committed yet. A reconciliation ends them too.
func (c *Checkout) endOverruled(
	decided state.State, targets map[promotion.Target]promotion.Current, branchOf map[string]*branch,
) state.State {
	rejecting := decided.Rejecting()
	if len(rejecting) == 0 {
		return decided
	}
	clone, err := git.OpenCheckout(c.dir)
	if err != nil {
		return decided
	}
	for _, target := range rejecting {
		b := branchOf[target.Environment]
		if b == nil {
			continue
		}
		for _, rejection := range decided.At(target).Rejections {
			images := map[string]string{}
			for component, text := range rejection.Images {
				if !rejection.Form && promotion.HasImage(targets[promotion.Target(target)], text) {
					images[component] = text
				}
			}
			unproven := func(head string) bool { return !b.isFrom(clone, head) }
			if len(images) > 0 && len(rejection.Saw()) > 0 && !slices.ContainsFunc(rejection.Saw(), unproven) {
				decided = state.Overruled(target, rejection, images)(decided)
			}
		}
	}
	return decided
}

// isFrom reports whether the files of a branch are made from a commit.
func (b *branch) isFrom(clone *git.Checkout, commit string) bool {
	if b.onDisk {
		return clone.Contains("", commit)
	}
	name := b.name
	if name == "" {
		name, _ = clone.DefaultBranch() // without one, the files were not read
	}
	return name != "" && clone.Contains(name, commit)
}
