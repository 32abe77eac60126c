package git

import (
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// moveBoundary takes over where the history ends now. A server that is asked for a
// number of commits says so too of a commit from which we have more, and one that
// is asked by time also of commits that it does not send.
func (m *Mirror) moveBoundary(update packp.ShallowUpdate) error {
	ends := map[ID]bool{}
	for _, id := range m.state.Shallow {
		ends[id] = true
	}
	for _, hash := range update.Shallows {
		if !m.has(ID(hash)) {
			continue
		}
		commit, err := m.commit(ID(hash), nil)
		if err != nil {
			return missing(err)
		}
		if len(m.absent(commit)) > 0 {
			ends[commit.ID] = true
		}
	}
	for _, hash := range update.Unshallows {
		delete(ends, ID(hash))
	}
	m.state.Shallow = slices.SortedFunc(maps.Keys(ends), func(a, b ID) int { return slices.Compare(a[:], b[:]) })
	return nil
}

// absent returns the parents of a commit that are not here.
func (m *Mirror) absent(commit Commit) []ID {
	return slices.DeleteFunc(slices.Clone(commit.Parents), m.has)
}
