package act

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/observe"
	"promoter/internal/repo"
)

// rewriter makes commits of proposals, and recognizes them.
type rewriter struct {
	objects   repo.Objects
	files     repo.Files
	history   landing.Reader
	config    *config.Config
	signature repo.Signature
	marks     []promotion.Trailer // of each commit: how far the state branch is
}

func newRewriter(c observe.Clients, o observe.Observation) rewriter {
	return rewriter{
		objects: c.Objects, files: c.Files, history: c.History(o.Promotion.Config),
		config: o.Promotion.Config, signature: c.Signature(),
		marks: c.StateBranch().Marks(o.Branch),
	}
}

// proposal rewrites the files of a proposal, from a tree that was read before. Files
// that were written since then are read again from the parent.
func (w rewriter) proposal(
	ctx context.Context, tree repo.Tree, p propose.Proposal, parent string, written map[string]bool,
) (map[string][]byte, error) {
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
func (w rewriter) rewriteOn(
	ctx context.Context, parent string, files map[string][]byte, decision promotion.Decision,
) (map[string][]byte, error) {
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
func (w rewriter) commit(p propose.Proposal, files map[string][]byte, parent string, replaced ...promotion.Trailer) (string, error) {
	subject, body := pullrequest.CommitMessage(pullrequest.Page{Proposal: p})
	message := subject + "\n"
	if body != "" {
		message += "\n" + body + "\n"
	}
	commit, err := w.objects.Write(repo.Draft{
		Parent: parent, Files: files, By: w.signature, Message: message,
		Trailers: slices.Concat(pullrequest.Trailers(p), replaced, w.marks),
	})
	if err != nil {
		return "", fmt.Errorf("write a commit for %s: %w", p.Head, err)
	}
	return commit, nil
}

func snapshotsOf(p propose.Proposal) map[string]promotion.Snapshot {
	snapshots := map[string]promotion.Snapshot{}
	for _, d := range p.Decisions {
		snapshots[d.Application] = d.Snapshot
	}
	return snapshots
}

// isProposal reports whether a head is what would be written now: one commit on some base
// that changes the wanted files to the wanted content, and no others. Then it
// is left alone, so that approvals stay and checks do not run again.
func (w rewriter) isProposal(ctx context.Context, head string, p propose.Proposal, files map[string][]byte) (bool, error) {
	commit, err := w.objects.Commit(head)
	if err != nil || len(commit.Parents) != 1 || !sameSnapshots(commit, p) {
		return false, repo.IgnoreNotFound(err)
	}
	for path, wanted := range files {
		content, err := w.objects.Read(head, path, int64(len(wanted)))
		if err != nil || !bytes.Equal(content, wanted) {
			return false, nil //nolint:nilerr // missing or larger: not what is wanted
		}
	}
	if readable, err := w.history.ReadParent(ctx, p.Head, commit); err != nil || !readable {
		return false, err
	}
	changed, err := w.objects.Changed(commit.Parents[0], head)
	slices.Sort(changed)
	return err == nil && slices.Equal(changed, slices.Sorted(maps.Keys(files))), err
}

// sameSnapshots reports whether the trailers of a commit name the digests of the
// proposal.
func sameSnapshots(commit repo.Commit, p propose.Proposal) bool {
	landed, wanted := promotion.ReadTrailers(commit.Trailers), snapshotsOf(p)
	same := func(a, b promotion.Pinned) bool { return promotion.SameRollout(a.Version, b.Version) }
	return len(landed) == len(p.Decisions) && !slices.ContainsFunc(landed, func(l promotion.Landed) bool {
		return l.Environment != p.Environment.Name || !maps.EqualFunc(l.Snapshot, wanted[l.Application], same)
	})
}

// verify reports whether a head may be merged into a branch: its one commit, written
// again from its parent for what is wanted now, has the same tree, and the parent is on
// the branch. It detects anything that was added.
func (w rewriter) verify(ctx context.Context, head string, p propose.Proposal, base, tip string) (bool, error) {
	commit, err := w.objects.Commit(head)
	if err != nil || len(commit.Parents) != 1 {
		return false, err
	}
	parent := commit.Parents[0]
	if found, err := w.history.OnBranch(ctx, base, tip, parent); err != nil || !found {
		return false, err
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
