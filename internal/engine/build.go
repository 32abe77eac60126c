package engine

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/fault"
	"promoter/internal/pullrequest"
)

// built is what a proposal makes of the files of one commit.
type built struct {
	files map[string][]byte
}

// build rewrites the places of a proposal. Files that were touched since the trees
// were read are read again.
func (v *view) build(ctx context.Context, p pullrequest.Proposal, parent string, touched map[string]bool) (built, error) {
	all := built{files: map[string][]byte{}}
	tree := v.trees[p.Environment.Name]
	for _, decision := range p.Decisions {
		rewritten, err := v.rewrite(ctx, tree, decision)
		if err == nil && (overlaps(rewritten.Files, touched) || overlaps(rewritten.Files, all.files)) {
			rewritten, err = v.rewriteOver(ctx, parent, all.files, decision)
		}
		if err != nil {
			return all, err
		}
		maps.Copy(all.files, rewritten.Files)
	}
	return all, nil
}

func overlaps[A, B any](files map[string]A, touched map[string]B) bool {
	for path := range files {
		if _, found := touched[path]; found {
			return true
		}
	}
	return false
}

// rewriteOver rewrites a place in the files of a commit with some written already.
func (v *view) rewriteOver(ctx context.Context, parent string, files map[string][]byte, decision promotion.Decision) (Rewritten, error) {
	at := parent
	if len(files) > 0 {
		var err error
		if at, err = v.Objects.Write(Draft{Parent: parent, Files: files, By: v.signature(), Message: "between"}); err != nil {
			return Rewritten{}, fmt.Errorf("write a commit: %w", err)
		}
	}
	tree, err := v.Files.At(ctx, v.observed.Config, at, []string{decision.Environment})
	if err != nil {
		return Rewritten{}, fmt.Errorf("read the files of %.7s: %w", at, err)
	}
	return v.rewrite(ctx, tree, decision)
}

func (v *view) rewrite(ctx context.Context, tree Tree, decision promotion.Decision) (Rewritten, error) {
	rewritten, err := tree.Rewrite(ctx, decision.Target, decision.Moves)
	if err != nil {
		return rewritten, fmt.Errorf("rewrite %s in %s: %w", decision.Application, decision.Environment, err)
	}
	if len(rewritten.Refusals) > 0 {
		return rewritten, fault.New(fault.Invalid, "%s", promotion.RefusedBy(rewritten.Refusals))
	}
	return rewritten, nil
}

// commit writes the commit of a proposal over its parent. Nothing is pushed.
func (v *view) commit(p pullrequest.Proposal, b built, parent string) (string, error) {
	subject, body := pullrequest.CommitMessage(pullrequest.Page{Proposal: p})
	message := subject + "\n"
	if body != "" {
		message += "\n" + body + "\n"
	}
	commit, err := v.Objects.Write(Draft{
		Parent: parent, Files: b.files, By: v.signature(), Message: message,
		Trailers: promotion.Trailers(p.Environment.Name, snapshotsOf(p)),
	})
	if err != nil {
		return "", fmt.Errorf("write a commit for %s: %w", p.Head, err)
	}
	return commit, nil
}

func snapshotsOf(p pullrequest.Proposal) map[string]promotion.Snapshot {
	snapshots := map[string]promotion.Snapshot{}
	for _, d := range p.Decisions {
		snapshots[d.Application] = d.Snapshot
	}
	return snapshots
}

// carries says whether a head that stands is what would be written now: one commit
// over some base that changes the wanted files to the wanted bytes, and no others.
// Then it is left alone, so that approvals stay and nothing runs again.
func (v *view) carries(ctx context.Context, head string, p pullrequest.Proposal, b built) (bool, error) {
	commit, err := v.Objects.Commit(head)
	if err != nil || len(commit.Parents) != 1 || !v.isOurs(commit) || !sameSnapshots(commit, p) {
		return false, ignoring(fault.NotFound, err)
	}
	for path, wanted := range b.files {
		content, err := v.Objects.Read(head, path, int64(len(wanted)))
		if err != nil || !bytes.Equal(content, wanted) {
			return false, nil //nolint:nilerr // missing or larger: not what is wanted
		}
	}
	if there, err := v.reach(ctx, p.Head, commit); err != nil || !there {
		return false, err
	}
	changed, err := v.Objects.Changed(commit.Parents[0], head)
	return err == nil && slices.Equal(slices.Sorted(slices.Values(changed)), sortedKeys(b.files)), err
}

// reach makes the parent of a head readable, if it can be. A mirror that began with
// little history asks for more: first for as much as most heads need.
func (v *view) reach(ctx context.Context, branch string, head Commit) (bool, error) {
	for _, back := range []time.Duration{month, longAgo} {
		_, err := v.Objects.Commit(head.Parents[0])
		if fault.KindOf(err) != fault.NotFound {
			return err == nil, err
		}
		if err := v.Remote.Deepen(ctx, branch, head.Committer.When.Add(-back)); err != nil {
			return false, fmt.Errorf("deepen %s: %w", branch, err)
		}
	}
	_, err := v.Objects.Commit(head.Parents[0])
	return err == nil, ignoring(fault.NotFound, err)
}

// sameSnapshots says whether a commit's trailers name the digests of the proposal.
func sameSnapshots(commit Commit, p pullrequest.Proposal) bool {
	landed := promotion.ReadTrailers(commit.Trailers)
	if len(landed) != len(p.Decisions) {
		return false
	}
	wanted := snapshotsOf(p)
	for _, l := range landed {
		if l.Environment != p.Environment.Name || !sameRollouts(l.Snapshot, wanted[l.Application]) {
			return false
		}
	}
	return true
}

func sameRollouts(a, b promotion.Snapshot) bool {
	if len(a) != len(b) {
		return false
	}
	for component, pinned := range a {
		if other, found := b[component]; !found || !promotion.SameRollout(pinned.Version, other.Version) {
			return false
		}
	}
	return true
}

// proven says whether a head may be merged: its one commit, made anew from its
// parent for what is wanted now, gives the same tree, and the parent lies on the
// base. Anything that was slipped in shows here.
func (v *view) proven(ctx context.Context, head string, p pullrequest.Proposal) (bool, error) {
	commit, err := v.Objects.Commit(head)
	if err != nil || len(commit.Parents) != 1 {
		return false, err
	}
	if on, err := v.onBase(ctx, commit.Parents[0], v.branchOf(p.Environment)); err != nil || !on {
		return false, err
	}
	files := map[string][]byte{}
	for _, decision := range p.Decisions {
		rewritten, err := v.rewriteOver(ctx, commit.Parents[0], files, decision)
		if err != nil {
			return false, err
		}
		maps.Copy(files, rewritten.Files)
	}
	again, err := v.commit(p, built{files: files}, commit.Parents[0])
	if err != nil {
		return false, err
	}
	changed, err := v.Objects.Changed(again, head)
	return err == nil && len(changed) == 0, err
}

// onBase says whether a commit lies in the first-parent history of a branch. What
// is readable of that may end too early: then it is asked for down to the commit.
func (v *view) onBase(ctx context.Context, commit, branch string) (bool, error) {
	if found, whole := v.passes(commit, v.heads[branch]); found || whole {
		return found, nil
	}
	found, err := v.Objects.Commit(commit)
	if err != nil {
		return false, ignoring(fault.NotFound, err)
	}
	if err := v.Remote.Deepen(ctx, branch, found.Committer.When); err != nil {
		return false, fmt.Errorf("deepen %s: %w", branch, err)
	}
	on, _ := v.passes(commit, v.heads[branch])
	return on, nil
}

// passes says whether the first parents of a head lead to a commit, and else
// whether more history would not help.
func (v *view) passes(commit, head string) (found, whole bool) {
	n := 0
	for c, err := range v.Objects.History(head) {
		if n++; err != nil || n > maxCommits {
			return false, true
		}
		if c.ID == commit {
			return true, true
		}
		whole = !c.Shallow
	}
	return false, whole
}

// ignoring drops an error of a kind.
func ignoring(kind fault.Kind, err error) error {
	if fault.KindOf(err) == kind {
		return nil
	}
	return err
}
