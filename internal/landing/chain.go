package landing

import (
	"iter"

	"promoter/internal/repo"
)

// chain is the first-parent history of a branch, as far as it was needed.
type chain struct {
	commits  []repo.Commit
	position map[string]int
	next     func() (repo.Commit, error, bool)
	stop     func()
}

func (h *healthReader) chainOf(head string) *chain {
	c, known := h.chains[head]
	if !known {
		c = &chain{position: map[string]int{}}
		c.next, c.stop = iter.Pull2(h.reader.Objects.History(head))
		h.chains[head] = c
	}
	return c
}

// at returns a commit by its position; false after the last one that is readable.
func (c *chain) at(position int) (repo.Commit, bool, error) {
	for len(c.commits) <= position && len(c.commits) < maxCommits {
		commit, err, more := c.next()
		if err != nil || !more {
			return repo.Commit{}, false, err
		}
		c.position[commit.ID] = len(c.commits)
		c.commits = append(c.commits, commit)
	}
	if position >= len(c.commits) {
		return repo.Commit{}, false, nil
	}
	return c.commits[position], true, nil
}

// reach returns the position of a commit.
func (c *chain) reach(id string) (position int, found bool, err error) {
	for position, found = c.position[id]; !found; position, found = c.position[id] {
		if _, more, err := c.at(len(c.commits)); err != nil || !more {
			return 0, false, err
		}
	}
	return position, true, nil
}

// ids returns the commits from one position to another, both included.
func (c *chain) ids(newest, oldest int) []string {
	var ids []string
	for _, commit := range c.commits[newest : oldest+1] {
		ids = append(ids, commit.ID)
	}
	return ids
}
