package promotion

import "slices"

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
		if _, taken := p.takenBack(move); taken || !p.selects(move) {
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
		to := p.Facts.described(pinned.Repository, pinned.Version)
		if _, back := s.newerThan(to, p.Policies[s.component]); !back {
			moves = append(moves, s.move(to))
		}
	}
	return moves
}

// takenBack says why a version is not wanted here any more: people answered so,
// or took it out of where it comes from.
func (p *planner) takenBack(move Move) (Reason, bool) {
	if _, why, answered := p.answerTo(move); answered {
		return why, true
	}
	for _, source := range p.sources {
		if p.revertedIn(source, move) {
			return Reason{Rule: RuleReverted, Message: targetsInWords([]Move{move}) + " was taken back in " + source.Environment}, true
		}
	}
	return Reason{}, false
}

// revertedIn says whether the last landing of a version in a source was taken
// back.
func (p *planner) revertedIn(source Target, move Move) bool {
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

// askCarried notes what is not known about the version that an open pull request
// carries, where the registry did not just offer it.
func (p *planner) askCarried(asked questions, here standing) {
	open, found := p.open()
	pinned, carried := open.Snapshots[p.place.Application][here.component]
	if !found || !carried || pinned.Repository != here.repository || !here.differs(pinned.Version, p.moving(here.component)) {
		return
	}
	if available := p.Available[here.component]; len(p.settings.After) == 0 && available.Found && SameRollout(available.Version, pinned.Version) {
		return
	}
	p.askBetween(asked, here, pinned.Version)
	p.askAgain(asked, here, pinned.Version)
}
