package git

import (
	"context"
	"errors"
	"fmt"
	"time"

	"promoter/internal/fault"
)

// errIncomplete says that what a remote sent does not stand by itself.
var errIncomplete = errors.New("objects are missing from what the server sent")

// Fetch brings the branches into the mirror and returns their commits. A branch
// that the remote does not have is absent. A branch that the mirror does not
// have is fetched at depth 1 when it is the only one, else at depth 2; those that
// it has come with the history since. What arrives incomplete is fetched again into
// an emptied mirror.
func (m *Mirror) Fetch(ctx context.Context, branches ...string) (map[string]ID, error) {
	for _, branch := range branches {
		if err := checkBranch(branch); err != nil {
			return nil, err
		}
	}
	var found map[string]ID
	err := m.anew(ctx, func() (err error) {
		found, err = m.fetch(ctx, branches)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("fetch from %s: %w", m.remote, err)
	}
	return found, nil
}

// anew does the work again in an emptied mirror when objects turn out missing. What
// is missing because the context ended says nothing about the mirror.
func (m *Mirror) anew(ctx context.Context, work func() error) error {
	for attempt := 1; ; attempt++ {
		err := work()
		if !errors.Is(err, errIncomplete) {
			return err
		}
		if ctx.Err() != nil {
			return fault.Wrap(fault.Temporary, context.Cause(ctx))
		}
		if err := m.drop(); err != nil {
			return err
		}
		if attempt >= m.options.Attempts {
			return fault.Wrap(fault.Temporary, err)
		}
	}
}

// round is one upload-pack session: what it brings, and how much history.
type round struct {
	heads map[string]ID // by branch
	depth depth
}

// depth says how much of the history comes along.
type depth struct {
	commits int       // so many; 0: down to the time
	since   time.Time // down to this time; zero: down to what we have
	whole   bool      // as if we had nothing, to compare with what we have
}

// How many commits of a branch come that is not in the mirror yet. One is enough
// to read files. A later branch is mostly one commit over another branch: what it
// changes is seen only beside its parent, which may be any of those.
const (
	firstCommits = 1
	laterCommits = 2
)

func (m *Mirror) fetch(ctx context.Context, branches []string) (map[string]ID, error) {
	f, err := m.fetching(ctx)
	if err != nil {
		return nil, err
	}
	refs := refsOf(f.advertised)
	rounds, err := m.plan(refs, branches)
	for _, r := range rounds {
		if err == nil {
			err = f.take(ctx, r)
		}
	}
	if err := end(f, err); err != nil {
		return nil, err
	}
	found := m.arrived(refs, branches)
	if len(rounds) > 0 {
		err = m.tidy()
	}
	return found, errors.Join(err, m.save())
}

// arrived lets the branches be where they are now, and returns them. Those that
// the remote does not have any more leave the mirror, whoever asked for what.
func (m *Mirror) arrived(refs Refs, branches []string) map[string]ID {
	found := map[string]ID{}
	for _, branch := range branches {
		if id, exists := refs.Branches[branch]; exists {
			found[branch] = id
			m.point(branch, id)
		}
	}
	for branch := range m.state.Branches {
		if _, exists := refs.Branches[branch]; !exists {
			m.point(branch, ID{})
		}
	}
	return found
}

// point lets a branch be at a commit; the zero one takes it away.
func (m *Mirror) point(branch string, id ID) {
	if !id.IsZero() {
		m.state.Branches[branch] = id
		return
	}
	delete(m.state.Branches, branch)
	delete(m.state.Since, branch)
}

// plan returns what must be fetched so that the branches are here.
func (m *Mirror) plan(refs Refs, branches []string) ([]round, error) {
	held := map[ID]bool{}
	for _, id := range m.state.Branches {
		held[id] = true
	}
	fresh, moved := map[string]ID{}, map[string]ID{}
	for _, branch := range branches {
		id, exists := refs.Branches[branch]
		old, have := m.state.Branches[branch]
		switch {
		case !exists || have && old == id:
		case held[id]:
			delete(m.state.Since, branch) // that was the history of another commit
		case have:
			moved[branch] = id
		default:
			fresh[branch] = id
		}
	}
	rounds, err := m.catchUp(moved)
	if err != nil || len(fresh) == 0 {
		return rounds, err
	}
	commits := laterCommits
	if len(m.state.Branches) == 0 && len(fresh) == 1 {
		commits = firstCommits
	}
	return append(rounds, round{heads: fresh, depth: depth{commits: commits}}), nil
}
