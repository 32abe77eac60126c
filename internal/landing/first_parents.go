package landing

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// This file finds commits in the first-parent history of a branch, which a mirror may not have
// completely: it fetches more history only where the answer depends on it.

// ReadParent makes the parent of the head of a branch readable. A mirror with little
// history needs more: first as much as most heads need.
func (r Reader) ReadParent(ctx context.Context, branch string, head repo.Commit) (bool, error) {
	for _, back := range []time.Duration{recentHistory, maxHistory} {
		if _, err := r.Objects.Commit(head.Parents[0]); fault.KindOf(err) != fault.NotFound {
			break
		}
		if err := r.Remote.Deepen(ctx, branch, head.Committer.When.Add(-back)); err != nil {
			return false, fmt.Errorf("deepen %s: %w", branch, err)
		}
	}
	_, err := r.Objects.Commit(head.Parents[0])
	return err == nil, repo.IgnoreNotFound(err)
}

// ParentOf returns the first parent of a commit that a branch had at a time, with more history if that is needed; false:
// it is not readable.
func (r Reader) ParentOf(ctx context.Context, branch, id string, at time.Time) (parent string, known bool, err error) {
	for _, back := range []time.Duration{recentHistory, maxHistory, 0} {
		commit, err := r.Objects.Commit(id)
		switch {
		case repo.IgnoreNotFound(err) != nil:
			return "", false, err
		case err == nil && !commit.Shallow:
			return firstParent(commit), len(commit.Parents) > 0, nil
		case back == 0:
			return "", false, nil
		}
		if err := r.Remote.Deepen(ctx, branch, at.Add(-back)); err != nil {
			return "", false, fmt.Errorf("deepen %s: %w", branch, err)
		}
	}
	return "", false, nil
}

func firstParent(commit repo.Commit) string {
	if len(commit.Parents) == 0 {
		return ""
	}
	return commit.Parents[0]
}

// OnBranch reports whether a commit is in the first-parent history of the tip of a branch.
func (r Reader) OnBranch(ctx context.Context, branch, tip, commit string) (bool, error) {
	history := r.branch(branch, tip)
	is := func(c repo.Commit) bool { return c.ID == commit }
	if _, found, complete := history.newestReadable(is); found || complete {
		return found, nil
	}
	wanted, err := r.Objects.Commit(commit)
	if err != nil {
		return false, repo.IgnoreNotFound(err)
	}
	_, found, err := history.newest(ctx, wanted.Committer.When, is)
	return found, err
}

// Merged reports whether a head is in a branch already: the branch was fast-forwarded to it, or
// has a merge of it. The head has one parent, on the branch.
func (r Reader) Merged(ctx context.Context, branch, tip string, head repo.Commit) (bool, error) {
	base := head.Parents[0]
	commit, found, err := r.branch(branch, tip).newest(ctx, head.Committer.When, func(c repo.Commit) bool {
		return c.ID == base || c.ID == head.ID || slices.Contains(c.Parents, head.ID)
	})
	return found && commit.ID != base, err
}

// Follows reports whether the tip of a branch is later than a head that the branch had at a time: another
// commit that contains it. A tip that the head contains, or that was pushed with force, is not.
func (r Reader) Follows(ctx context.Context, branch, tip, head string, seen time.Time) (bool, error) {
	if tip == "" || head == "" || tip == head {
		return false, nil
	}
	for _, back := range []time.Duration{recentHistory, maxHistory, 0} {
		found, complete, err := contains(r.Objects, tip, head)
		if err != nil || found || complete || back == 0 {
			return found, err
		}
		if err := r.Remote.Deepen(ctx, branch, seen.Add(-back)); err != nil {
			return false, fmt.Errorf("deepen %s: %w", branch, err)
		}
	}
	return false, nil
}

// contains reports whether a commit contains another one, and whether all that could show it was readable.
func contains(objects repo.Commits, tip, wanted string) (found, complete bool, err error) {
	next := []string{tip}
	seen := map[string]bool{}
	for complete = true; len(next) > 0 && len(seen) < maxCommits; next = next[1:] {
		id := next[0]
		if id == wanted {
			return true, true, nil
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		commit, err := objects.Commit(id)
		if err := repo.IgnoreNotFound(err); err != nil {
			return false, false, err
		}
		complete = complete && err == nil && !commit.Shallow
		next = append(next, commit.Parents...)
	}
	return false, complete, nil
}

// Lost returns what landed in the commits that a branch of environments has lost since it was
// at a commit, by target.
func (r Reader) Lost(ctx context.Context, o Observed, branch, last string) ([]promotion.Landed, error) {
	lost, err := lostCommits(r.Objects, o.Heads[branch], last)
	if err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", branch, err)
	}
	var claims []claim
	for _, commit := range lost {
		for _, c := range claimsOf(r.Objects, commit) {
			if o.Promotion.BaseOf(c.Target) == branch {
				claims = append(claims, c)
			}
		}
	}
	verified, err := r.prover(o).verify(ctx, claims)
	if err != nil {
		return nil, fmt.Errorf("read what %s has lost: %w", branch, err)
	}
	var all []promotion.Landed
	for _, target := range sortedTargets(verified) {
		for _, l := range verified[target].found {
			all = append(all, promotion.Landed{Target: target, Snapshot: l.Snapshot})
		}
	}
	return all, nil
}

// branchHistory is the first-parent history of the tip of a branch.
type branchHistory struct {
	from      Reader
	name, tip string
}

// newest returns the newest commit that matches. It fetches more history, back to a time, if
// what is readable may end too early.
func (b branchHistory) newest(ctx context.Context, since time.Time, matches func(repo.Commit) bool) (repo.Commit, bool, error) {
	commit, found, complete := b.newestReadable(matches)
	if found || complete {
		return commit, found, nil
	}
	if err := b.from.Remote.Deepen(ctx, b.name, since); err != nil {
		return commit, false, fmt.Errorf("deepen %s: %w", b.name, err)
	}
	commit, found, _ = b.newestReadable(matches)
	return commit, found, nil
}

// newestReadable returns the newest commit that matches, and whether all that could contain one
// was readable.
func (b branchHistory) newestReadable(matches func(repo.Commit) bool) (commit repo.Commit, found, complete bool) {
	for c, err := range repo.FirstParents(b.from.Objects, b.tip, maxCommits) {
		if err != nil {
			return commit, false, true // more history does not help
		}
		if matches(c) {
			return c, true, true
		}
		complete = !c.Shallow
	}
	return commit, false, complete
}

// lostCommits returns the first-parent commits of a former head that a head of the same
// branch does not contain, newest first. It returns none if the head contains the former
// one, or if the readable history does not show where they part.
func lostCommits(objects repo.Commits, head, last string) ([]repo.Commit, error) {
	var former []repo.Commit
	position := map[string]int{}
	for commit, err := range repo.FirstParents(objects, last, maxCommits) {
		if err != nil {
			return nil, err
		}
		position[commit.ID] = len(former)
		former = append(former, commit)
	}
	// A merge may have the former head as its second parent. What precedes a commit of the
	// former history is not searched.
	shared := -1
	next := []string{head}
	seen := map[string]bool{}
	for len(next) > 0 && len(seen) < maxCommits {
		id := next[0]
		next = next[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		if at, known := position[id]; known {
			if at == 0 {
				return nil, nil // the head contains it
			}
			if shared < 0 || at < shared {
				shared = at
			}
			continue
		}
		commit, err := objects.Commit(id)
		if err != nil || commit.Shallow {
			return nil, nil // the history ends before it shows anything
		}
		next = append(next, commit.Parents...)
	}
	return former[:max(shared, 0)], nil
}

// chain is the first-parent history of a branch, read as far as it was needed, by position.
type chain struct {
	commits  []repo.Commit
	position map[string]int
	next     func() (repo.Commit, error, bool)
	stop     func()
}

func newChain(objects repo.Commits, head string) *chain {
	c := &chain{position: map[string]int{}}
	c.next, c.stop = iter.Pull2(repo.FirstParents(objects, head, maxCommits))
	return c
}

// at returns a commit by its position; false after the last one that is readable.
func (c *chain) at(position int) (repo.Commit, bool, error) {
	for len(c.commits) <= position {
		commit, err, more := c.next()
		if err != nil || !more {
			return repo.Commit{}, false, err
		}
		c.position[commit.ID] = len(c.commits)
		c.commits = append(c.commits, commit)
	}
	return c.commits[position], true, nil
}

// reach returns the position of a commit.
func (c *chain) reach(id string) (position int, found bool, err error) {
	for {
		if position, found = c.position[id]; found {
			return position, true, nil
		}
		if _, more, err := c.at(len(c.commits)); err != nil || !more {
			return 0, false, err
		}
	}
}
