package git

import (
	"slices"
	"time"
)

// sameHorizon is how far apart the horizons of two branches may be that are
// fetched together: what lies between may come for both.
const sameHorizon = 7 * 24 * time.Hour

// catchUp returns the rounds that bring branches which have moved: those with
// about the same horizon together. A branch that began long ago would else bring
// the history of all the others since.
func (m *Mirror) catchUp(moved map[string]ID) ([]round, error) {
	type reach struct {
		branch string
		down   time.Time
	}
	var reaches []reach
	for branch := range moved {
		down, err := m.horizon(branch)
		if err != nil {
			return nil, err
		}
		reaches = append(reaches, reach{branch, down})
	}
	slices.SortFunc(reaches, func(a, b reach) int { return a.down.Compare(b.down) })
	var rounds []round
	for _, r := range reaches {
		if n := len(rounds); n == 0 || r.down.Sub(rounds[n-1].depth.since) > sameHorizon {
			rounds = append(rounds, round{heads: map[string]ID{}, depth: depth{since: r.down}})
		}
		rounds[len(rounds)-1].heads[r.branch] = moved[r.branch]
	}
	return rounds, nil
}

// horizon returns the time down to which the mirror has the history of a branch:
// that of the last commit, or that to which it was deepened. Zero: the mirror has
// all of everything. A fetch that names it gets no more when the branch was moved
// to before that, where the boundary alone would bring everything since the
// beginning.
func (m *Mirror) horizon(branch string) (time.Time, error) {
	if len(m.state.Shallow) == 0 {
		return time.Time{}, nil
	}
	last, _, err := m.beginning(m.state.Branches[branch])
	if err != nil {
		return time.Time{}, err
	}
	down := last.Committer.When
	if since, ok := m.state.Since[branch]; ok && since.Before(down) {
		down = since
	}
	return down, nil
}
