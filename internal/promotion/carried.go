package promotion

import (
	"slices"

	"promoter/internal/state"
)

// carried returns the moves that an open pull request stands for, while all of
// them still are wanted: what a person rejected or took back is not, nor what the
// components no longer select. Where the files are ahead of it by now, it moves
// nothing. The versions are told by its trailers alone.
func (p *planner) carried(open Open) ([]Move, bool) {
	if open.Foreign != "" {
		return nil, false
	}
	moves := p.movesTo(open.Snapshots[p.place.Application])
	for _, move := range moves {
		if p.takenBack(move) || !p.selects(move) {
			return nil, false
		}
	}
	return moves, len(moves) > 0
}

// movesTo returns what would bring the files forward to a snapshot.
func (p *planner) movesTo(snapshot Snapshot) []Move {
	var moves []Move
	for _, s := range p.standing {
		pinned, has := snapshot[s.component]
		if !has || pinned.Repository != s.repository || !s.differs(pinned.Version, p.moving(s.component)) {
			continue
		}
		if _, back := s.newerThan(pinned.Version, p.Policies[s.component]); !back {
			moves = append(moves, s.move(pinned.Version))
		}
	}
	return moves
}

// takenBack says whether people do not want a version here, or took it out of
// where it comes from.
func (p *planner) takenBack(move Move) bool {
	if p.rejects(p.place, move) {
		return true
	}
	return slices.ContainsFunc(p.sources, func(source Place) bool { return p.revertedIn(source, move) })
}

// rejects says whether people rejected a version in a place, or reverted it.
func (p *planner) rejects(place Place, move Move) bool {
	_, rejected := p.State.Rejected(state.Place(place), p.repositoryOf(move.Component), move.To)
	return rejected || slices.ContainsFunc(p.Taken[place], func(taken Taken) bool {
		return taken.Component == move.Component && SameRollout(taken.Version, move.To)
	})
}

// revertedIn says whether the last landing of a version in a source was taken
// back.
func (p *planner) revertedIn(source Place, move Move) bool {
	landings := p.Landings[source]
	i := slices.IndexFunc(landings, func(l Landing) bool {
		pinned, has := l.Snapshot[move.Component]
		return has && SameRollout(pinned.Version, move.To)
	})
	return i >= 0 && landings[i].TakenBack
}

// selects says whether the config still allows a version where it comes from the
// registry. Of a release only the forge can tell, so it does.
func (p *planner) selects(move Move) bool {
	policy := p.Policies[move.Component]
	if len(p.settings.After) > 0 || policy == nil || move.To.Tag == "" {
		return true
	}
	if _, release := policy.Release(); release {
		return true
	}
	return len(policy.Candidates([]string{move.To.Tag}).Ordered) > 0
}
