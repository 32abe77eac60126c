package statebranch

import (
	"context"
	"fmt"
	"time"

	"promoter/internal/repo"
	"promoter/internal/state"
)

// Lost returns the changes that restore what the branch no longer has since a commit,
// although no later commit removed it, and what happened to the branch.
func (s Branch) Lost(ctx context.Context, b Head, last repo.Commit, now time.Time) (changes []state.Change, what string, err error) {
	what = "deleted"
	if b.head != "" {
		what = "moved back"
		follows, err := s.follows(ctx, b.head, last)
		if err != nil || follows {
			return nil, "", err
		}
	}
	lost, err := readState(s.Objects, last.ID)
	if err != nil {
		return nil, "", err
	}
	return state.Restore(lost, b.Counts, now), what, nil
}

// follows reports whether the history of a head of the state branch, which has no merges,
// contains a commit.
func (s Branch) follows(ctx context.Context, head string, commit repo.Commit) (bool, error) {
	contains := func() (found, cut bool, err error) {
		for one, err := range s.Objects.History(head) {
			if err != nil {
				return false, false, fmt.Errorf("read the history of %s: %w", state.Branch, err)
			}
			if found, cut = one.ID == commit.ID, one.Shallow; found || cut {
				break
			}
		}
		return found, cut, nil
	}
	found, cut, err := contains()
	if err != nil || found || !cut {
		return found, err
	}
	if err := s.Remote.Deepen(ctx, state.Branch, commit.Committer.When.Add(-time.Hour)); err != nil {
		return false, fmt.Errorf("read the history of %s: %w", state.Branch, err)
	}
	found, _, err = contains()
	return found, err
}
