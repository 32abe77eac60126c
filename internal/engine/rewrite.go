package engine

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/repo"
)

// rewriter makes commits of proposals, and recognizes them.
type rewriter struct {
	remote    repo.Remote
	objects   repo.Objects
	files     repo.Files
	config    *config.Config
	signature repo.Signature
	marks     []promotion.Trailer // of each commit: how far the state branch is
}

func (x *executor) rewriter() rewriter { return x.r.rewriter(x.o) }

func (r *Reconciler) rewriter(o Observation) rewriter {
	return rewriter{
		remote: r.Remote, objects: r.Objects, files: r.Files, config: o.Promotion.Config, signature: r.signature(),
		marks: stateReader{r}.marks(o.Branch),
	}
}

// proposal rewrites the files of a proposal, from a tree that was read before. Files
// that were written since then are read again from the parent.
func (w rewriter) proposal(ctx context.Context, tree repo.Tree, p pullrequest.Proposal, parent string, written map[string]bool) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, decision := range p.Decisions {
		rewritten, err := w.rewrite(ctx, tree, decision)
		if err == nil && (overlap(rewritten, written) || overlap(rewritten, files)) {
			rewritten, err = w.rewriteOn(ctx, parent, files, decision)
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(files, rewritten)
	}
	return files, nil
}

func overlap[A, B any](files map[string]A, written map[string]B) bool {
	for path := range files {
		if _, found := written[path]; found {
			return true
		}
	}
	return false
}

// rewriteOn rewrites a target in the files of a commit with some of them replaced.
func (w rewriter) rewriteOn(ctx context.Context, parent string, files map[string][]byte, decision promotion.Decision) (map[string][]byte, error) {
	commit := parent
	if len(files) > 0 {
		var err error
		if commit, err = w.objects.Write(repo.Draft{Parent: parent, Files: files, By: w.signature, Message: "intermediate"}); err != nil {
			return nil, fmt.Errorf("write a commit: %w", err)
		}
	}
	tree, err := w.files.At(ctx, w.config, commit, []string{decision.Environment})
	if err != nil {
		return nil, fmt.Errorf("read the files of %.7s: %w", commit, err)
	}
	return w.rewrite(ctx, tree, decision)
}

func (w rewriter) rewrite(ctx context.Context, tree repo.Tree, decision promotion.Decision) (map[string][]byte, error) {
	rewritten, err := tree.Rewrite(ctx, decision.Target, decision.Moves)
	if err != nil {
		return nil, fmt.Errorf("rewrite %s in %s: %w", decision.Application, decision.Environment, err)
	}
	if len(rewritten.Refusals) > 0 {
		return nil, fault.New(fault.Invalid, "%s", promotion.RefusedBy(rewritten.Refusals))
	}
	return rewritten.Files, nil
}

// commit writes the commit of a proposal and pushes nothing.
func (w rewriter) commit(p pullrequest.Proposal, files map[string][]byte, parent string) (string, error) {
	subject, body := pullrequest.CommitMessage(pullrequest.Page{Proposal: p})
	message := subject + "\n"
	if body != "" {
		message += "\n" + body + "\n"
	}
	commit, err := w.objects.Write(repo.Draft{
		Parent: parent, Files: files, By: w.signature, Message: message,
		Trailers: append(promotion.Trailers(p.Environment.Name, snapshotsOf(p)), w.marks...),
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

// isProposal reports whether a head is what would be written now: one commit on some base
// that changes the wanted files to the wanted content, and no others. Then it
// is left alone, so that approvals stay and checks do not run again.
func (w rewriter) isProposal(ctx context.Context, head string, p pullrequest.Proposal, files map[string][]byte) (bool, error) {
	commit, err := w.objects.Commit(head)
	if err != nil || len(commit.Parents) != 1 || !sameSnapshots(commit, p) {
		return false, ignoreNotFound(err)
	}
	for path, wanted := range files {
		content, err := w.objects.Read(head, path, int64(len(wanted)))
		if err != nil || !bytes.Equal(content, wanted) {
			return false, nil //nolint:nilerr // missing or larger: not what is wanted
		}
	}
	if readable, err := w.readParent(ctx, p.Head, commit); err != nil || !readable {
		return false, err
	}
	changed, err := w.objects.Changed(commit.Parents[0], head)
	slices.Sort(changed)
	return err == nil && slices.Equal(changed, slices.Sorted(maps.Keys(files))), err
}

// readParent makes the parent of the head of a branch readable. A mirror with little
// history needs more: first as much as most heads need.
func (w rewriter) readParent(ctx context.Context, branch string, head repo.Commit) (bool, error) {
	for _, back := range []time.Duration{recentHistory, maxHistory} {
		if _, err := w.objects.Commit(head.Parents[0]); fault.KindOf(err) != fault.NotFound {
			break
		}
		if err := w.remote.Deepen(ctx, branch, head.Committer.When.Add(-back)); err != nil {
			return false, fmt.Errorf("deepen %s: %w", branch, err)
		}
	}
	_, err := w.objects.Commit(head.Parents[0])
	return err == nil, ignoreNotFound(err)
}

// wrote reports whether the head of one of our branches is a commit of ours: by its
// committer, or, because the identity can be configured, by its content. Written again from
// its parent for the versions in its trailers, it has the same tree.
func (w rewriter) wrote(ctx context.Context, branch string, head repo.Commit) (bool, error) {
	if w.signature.Committed(head) {
		return true, nil
	}
	of, named := promotion.ParseHead(branch)
	landed := promotion.ReadTrailers(head.Trailers)
	_, known := w.config.Environment(of.Environment)
	if !named || !known || len(landed) == 0 || len(head.Parents) != 1 {
		return false, nil
	}
	if readable, err := w.readParent(ctx, branch, head); err != nil || !readable {
		return false, err
	}
	files := map[string][]byte{}
	for _, one := range landed {
		if !covers(of, one.Target) {
			return false, nil
		}
		rewritten, err := w.rewriteOn(ctx, head.Parents[0], files, promotion.Decision{
			Target: one.Target, Moves: promotion.ChangesOf(promotion.Snapshot{}, one.Snapshot),
		})
		if fault.KindOf(err) == fault.Invalid {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		maps.Copy(files, rewritten)
	}
	again, err := w.objects.Write(repo.Draft{Parent: head.Parents[0], Files: files, By: w.signature, Message: "intermediate"})
	if err != nil {
		return false, fmt.Errorf("write a commit: %w", err)
	}
	changed, err := w.objects.Changed(again, head.ID)
	return err == nil && len(changed) == 0, err
}

// sameSnapshots reports whether the trailers of a commit name the digests of the
// proposal.
func sameSnapshots(commit repo.Commit, p pullrequest.Proposal) bool {
	landed, wanted := promotion.ReadTrailers(commit.Trailers), snapshotsOf(p)
	same := func(a, b promotion.Pinned) bool { return promotion.SameRollout(a.Version, b.Version) }
	return len(landed) == len(p.Decisions) && !slices.ContainsFunc(landed, func(l promotion.Landed) bool {
		return l.Environment != p.Environment.Name || !maps.EqualFunc(l.Snapshot, wanted[l.Application], same)
	})
}

// verify reports whether a head may be merged into a branch: its one commit, written
// again from its parent for what is wanted now, has the same tree, and the parent is on
// the branch. It detects anything that was added.
func (w rewriter) verify(ctx context.Context, head string, p pullrequest.Proposal, base, tip string) (bool, error) {
	commit, err := w.objects.Commit(head)
	if err != nil || len(commit.Parents) != 1 {
		return false, err
	}
	parent := commit.Parents[0]
	found, complete := w.onBranch(parent, tip)
	if !found && !complete {
		// What is readable of the branch may end too early.
		parentCommit, err := w.objects.Commit(parent)
		if err != nil {
			return false, ignoreNotFound(err)
		}
		if err := w.remote.Deepen(ctx, base, parentCommit.Committer.When); err != nil {
			return false, fmt.Errorf("deepen %s: %w", base, err)
		}
		found, _ = w.onBranch(parent, tip)
	}
	if !found {
		return false, nil
	}
	tree, err := w.files.At(ctx, w.config, parent, []string{p.Environment.Name})
	if err != nil {
		return false, fmt.Errorf("read the files of %.7s: %w", parent, err)
	}
	files, err := w.proposal(ctx, tree, p, parent, nil)
	if err != nil {
		return false, err
	}
	again, err := w.commit(p, files, parent)
	if err != nil {
		return false, err
	}
	changed, err := w.objects.Changed(again, head)
	return err == nil && len(changed) == 0, err
}

// onBranch reports whether a commit is in the first-parent history of a head, and
// whether all that could contain it was readable.
func (w rewriter) onBranch(commit, head string) (found, complete bool) {
	n := 0
	for c, err := range w.objects.History(head) {
		if n++; err != nil || n > maxCommits {
			return false, true
		}
		if c.ID == commit {
			return true, true
		}
		complete = !c.Shallow
	}
	return false, complete
}

func ignoreNotFound(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}
