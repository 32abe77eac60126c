package git

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"promoter/internal/fault"
)

// Deepen brings the history of a fetched branch into the mirror, back to the
// given time. It does nothing when that is there already. A branch that moved on
// the remote meanwhile is a Conflict fault: fetch first.
func (m *Mirror) Deepen(ctx context.Context, branch string, since time.Time) error {
	since = since.Truncate(time.Second) // what the protocol can say
	err := m.anew(ctx, func() error { return m.deepen(ctx, branch, since) })
	if err != nil {
		return fmt.Errorf("deepen %s of %s: %w", branch, m.remote, err)
	}
	return nil
}

func (m *Mirror) deepen(ctx context.Context, branch string, since time.Time) error {
	head, held := m.Have(branch)
	if !held {
		// Dropped because it was incomplete, or never fetched.
		return fault.New(fault.Conflict, "the branch is not here: fetch it first")
	}
	enough, err := m.reaches(branch, head, since)
	if err != nil || enough {
		return err
	}
	f, err := m.fetching(ctx)
	if err != nil {
		return err
	}
	if err := end(f, f.deepen(ctx, branch, head, since)); err != nil {
		return err
	}
	m.reached(branch, since)
	return m.save()
}

// reaches says that the history of the head since the time is here.
func (m *Mirror) reaches(branch string, head ID, since time.Time) (bool, error) {
	if reached, ok := m.state.Since[branch]; ok && !since.Before(reached) {
		return true, nil
	}
	boundary, err := m.boundary()
	if err != nil {
		return false, err
	}
	commit, err := m.commit(head, boundary)
	if err != nil {
		return false, missing(err)
	}
	return len(boundary) == 0 || commit.Committer.When.Before(since), nil
}

// reached notes down to when the history of a branch is here.
func (m *Mirror) reached(branch string, since time.Time) {
	if m.state.Since == nil {
		m.state.Since = map[string]time.Time{}
	}
	m.state.Since[branch] = since
}

func (f *fetching) deepen(ctx context.Context, branch string, head ID, since time.Time) error {
	switch {
	case !f.advertised.Capabilities.Supports(capability.DeepenSince):
		return fault.New(fault.Invalid, "the server cannot send history by time (its Git is older than 2.11)")
	case refsOf(f.advertised).Branches[branch] != head:
		return fault.New(fault.Conflict, "the branch moved meanwhile: fetch it first")
	}
	heads := map[string]ID{branch: head}
	if err := f.bring(ctx, round{heads: heads, depth: depth{since: since}}); err != nil {
		return err
	}
	if err := f.passMerges(ctx, branch, heads, since); err != nil {
		return err
	}
	c := &completeness{m: f.m, ended: ctx.Err, known: map[ID]bool{}}
	boundary, err := f.m.boundary()
	return errors.Join(err, c.connected(head, boundary))
}

// maxByCount is how many commits are asked for by their number: a branch that has
// more of them since any time of interest is none that people work on.
const maxByCount = 1 << 17

// passMerges brings what a server leaves out by time: it ends the history at a
// merge of which one parent is too old, whatever the age of the first one is. So
// the commits before that are asked for by their number, twice as many each time.
func (f *fetching) passMerges(ctx context.Context, branch string, heads map[string]ID, since time.Time) error {
	for commits := 0; commits <= maxByCount; {
		last, count, err := f.m.beginning(heads[branch])
		if err != nil {
			return err
		}
		if !last.Shallow || last.Committer.When.Before(since) || commits == 0 && len(last.Parents) == 1 {
			return nil
		}
		commits = max(2*commits, count+firstMerge)
		if err := f.bring(ctx, round{heads: heads, depth: depth{commits: commits}}); err != nil {
			return err
		}
	}
	return nil
}

// firstMerge is how many commits beyond a merge are asked for at first.
const firstMerge = 16

// beginning returns the last commit of the first-parent history that is here, and
// how many there are.
func (m *Mirror) beginning(head ID) (last Commit, count int, err error) {
	for last, err = range m.History(head) {
		if err != nil {
			return last, count, missing(err)
		}
		count++
	}
	return last, count, nil
}
