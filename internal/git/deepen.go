package git

import (
	"context"
	"fmt"
	"time"

	"promoter/internal/fault"
	"promoter/internal/git/object"
)

// Deepen fetches the history of a branch back to a time, if the mirror does not have
// it. It fails with Conflict if the branch was never fetched or has moved on the
// remote: it must be fetched first.
func (m *Mirror) Deepen(ctx context.Context, branch string, since time.Time) error {
	since = since.Truncate(time.Second) // the precision of the protocol
	err := m.retryIncomplete(ctx, func() error { return m.deepen(ctx, branch, since) })
	if err != nil {
		return fmt.Errorf("deepen %s of %s: %w", branch, m.endpoint, err)
	}
	return nil
}

func (m *Mirror) deepen(ctx context.Context, branch string, since time.Time) error {
	head, stored := m.Have(branch)
	if !stored {
		return fault.New(fault.Conflict, "the branch is not in the mirror: fetch it first")
	}
	if reached, ok := m.state.Since[branch]; ok && !since.Before(reached) || len(m.state.Shallow) == 0 {
		return nil
	}
	commit, err := m.Objects.Commit(head)
	if err != nil {
		return incomplete(err)
	}
	if commit.Committer.When.Before(since) {
		return nil
	}
	f, err := m.newFetcher(ctx)
	if err != nil {
		return err
	}
	switch {
	case !f.session.CanDeepenSince():
		err = fault.New(fault.Invalid, "the server cannot send history by time (its Git is older than 2.11)")
	case f.refs.Branches[branch] != head:
		err = fault.New(fault.Conflict, "the branch has moved: fetch it first")
	default:
		err = f.deepen(ctx, head, fetchStep{heads: map[string]object.ID{branch: head}, since: since})
	}
	if err := f.close(err); err != nil {
		return err
	}
	m.state.Since[branch] = since
	return m.state.write(m.dir)
}

const (
	// beyondMerge is how many commits before a merge are fetched first.
	beyondMerge = 16

	// maxDepth is the largest number of commits that is requested. No branch that is
	// in use has more of them since any time of interest.
	maxDepth = 1 << 17
)

// deepen fetches the history of a head since the time of the step.
//
// By time, a server ends the history at a merge if any parent is too old, even if
// the first parent is not. The commits before such a merge are fetched by their
// number, twice as many each time.
func (f *fetcher) deepen(ctx context.Context, head object.ID, step fetchStep) error {
	if err := f.transfer(ctx, step); err != nil {
		return err
	}
	for depth := 0; depth <= maxDepth; {
		last, count, err := oldestStored(f.m.Objects, head)
		if err != nil {
			return err
		}
		if !last.Shallow || last.Committer.When.Before(step.since) || depth == 0 && len(last.Parents) == 1 {
			break
		}
		depth = max(2*depth, count+beyondMerge)
		if err := f.transfer(ctx, fetchStep{heads: step.heads, depth: depth}); err != nil {
			return err
		}
	}
	return incomplete(f.m.Objects.CheckHistory(ctx, head, map[object.ID]bool{}))
}
