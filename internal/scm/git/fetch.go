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
// have is fetched at depth 1, or at depth 2 when the mirror has others; those that
// it has come with the history since. What arrives incomplete is fetched again into
// an emptied mirror.
func (m *Mirror) Fetch(ctx context.Context, branches ...string) (map[string]ID, error) {
	for _, branch := range branches {
		if err := checkBranch(branch); err != nil {
			return nil, err
		}
	}
	var found map[string]ID
	err := m.anew(func() (err error) {
		found, err = m.fetch(ctx, branches)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("fetch from %s: %w", m.remote, err)
	}
	return found, nil
}

// anew does the work again in an emptied mirror when objects turn out missing.
func (m *Mirror) anew(work func() error) error {
	for attempt := 1; ; attempt++ {
		err := work()
		if !errors.Is(err, errIncomplete) {
			return err
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
	found, rounds := m.plan(refsOf(f.advertised), branches)
	for _, r := range rounds {
		if err = f.take(ctx, r); err != nil {
			break
		}
	}
	if err := end(f, err); err != nil {
		return nil, err
	}
	for _, branch := range branches {
		m.point(branch, found[branch])
	}
	if len(rounds) > 0 {
		err = m.tidy()
	}
	return found, errors.Join(err, m.save())
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

// plan returns where the branches are, and what must be fetched for that.
func (m *Mirror) plan(refs Refs, branches []string) (map[string]ID, []round) {
	held := map[ID]bool{}
	for _, id := range m.state.Branches {
		held[id] = true
	}
	found, fresh, moved := map[string]ID{}, map[string]ID{}, map[string]ID{}
	for _, branch := range branches {
		id, exists := refs.Branches[branch]
		if !exists {
			continue
		}
		found[branch] = id
		if _, have := m.state.Branches[branch]; have && !held[id] {
			moved[branch] = id
		} else if !held[id] {
			fresh[branch] = id
		}
	}
	var rounds []round
	if len(moved) > 0 {
		rounds = append(rounds, round{heads: moved, depth: depth{since: m.horizon()}})
	}
	if len(fresh) > 0 {
		commits := firstCommits
		if len(m.state.Branches) > 0 {
			commits = laterCommits
		}
		rounds = append(rounds, round{heads: fresh, depth: depth{commits: commits}})
	}
	return found, rounds
}

// horizon returns the time down to which the mirror has history: that of its
// oldest boundary, or that to which it was deepened. Zero: it has all of it. A
// fetch that names it gets no more when a branch was moved back to before the
// boundary, where the boundary alone would bring everything since the beginning.
func (m *Mirror) horizon() time.Time {
	var oldest time.Time
	note := func(t time.Time) {
		if oldest.IsZero() || t.Before(oldest) {
			oldest = t
		}
	}
	for _, id := range m.state.Shallow {
		if commit, err := m.Commit(id); err == nil {
			note(commit.Committer.When)
		}
	}
	if oldest.IsZero() {
		return oldest
	}
	for _, since := range m.state.Since {
		note(since)
	}
	return oldest
}
