package promotion

import (
	"cmp"
	"slices"

	"promoter/internal/image"
)

// fromParents decides about a place that follows other environments: it wants
// what they hold.
func (p *planner) fromParents() Decision {
	if reason, away := p.parentAway(); away {
		return p.decision(NotCheckedOut, reason)
	}
	if reason, empty := p.nothingBefore(); empty {
		return p.waiting(nil, reason)
	}
	moves, why := p.movesFromParents()
	if why.Words != "" {
		return p.waiting(moves, why)
	}
	if len(moves) == 0 {
		return p.decision(Same, AlreadySame())
	}
	return p.propose(moves, fromParent(p.sources, moves), append(p.recheck(moves), p.conditions(moves)...))
}

// movesFromParents returns every move that the parents ask for, and the first
// reason for which the whole snapshot has to wait.
func (p *planner) movesFromParents() ([]Move, Reason) {
	var moves []Move
	var first Reason
	for _, s := range p.standing {
		wanted, found, why := p.fromParentsOf(s)
		if found && s.differs(wanted, p.moving(s.component)) {
			moves = append(moves, s.move(wanted))
		}
		first = cmp.Or(first, why)
	}
	if first.Words == "" {
		first, _ = p.anyBackwards(moves)
	}
	return moves, first
}

// nothingBefore says whether there is no snapshot to take: the application is
// nowhere before, or an environment before has files of it that tell nothing.
func (p *planner) nothingBefore() (Reason, bool) {
	if len(p.sources) == 0 {
		return nowhereBefore(p.place.Application), true
	}
	for _, source := range p.sources {
		if len(p.survey.standing[source]) == 0 {
			return nothingIn(source.Environment, p.Places[source].Refusals), true
		}
	}
	return Reason{}, false
}

// recheck asks whether the parents' versions are still what their tags say. A
// tag that was moved since, or an image that is gone, would put something else
// into the files than what runs there. A moving tag is meant to move: its digest
// alone counts.
func (p *planner) recheck(moves []Move) []Condition {
	var conditions []Condition
	for _, move := range moves {
		fact := Fact{Repository: p.repositoryOf(move.Component), Tag: move.To.Tag}
		if p.moving(move.Component) || fact.Tag == "" {
			fact.Digest = move.To.Digest
		}
		now, known := p.Facts[fact]
		switch {
		case !known:
		case isMissing(now):
			conditions = append(conditions, imageMissing(move))
		case fact.Digest == "" && move.To.Digest != "" && now.Digest != move.To.Digest:
			conditions = append(conditions, tagMoved(move, now))
		}
	}
	return conditions
}

func (p *planner) waiting(moves []Move, reason Reason) Decision {
	d := p.decision(Waiting, reason)
	d.Moves, d.Snapshot = moves, p.snapshot(moves)
	return d
}

func (p *planner) moving(component string) bool {
	return isMoving(p.Policies[component])
}

// parentAway says whether an environment that must be looked at is not at hand.
func (p *planner) parentAway() (Reason, bool) {
	for _, place := range p.sources {
		if why, away := p.Away[place.Environment]; away {
			return Reason{Rule: RuleBranch, Words: place.Environment + " is not checked out: " + why}, true
		}
	}
	return Reason{}, false
}

// fromParentsOf returns the version of one component on which all sources agree.
// A source that does not refer to the component has no say.
func (p *planner) fromParentsOf(s standing) (image.Version, bool, Reason) {
	var wanted image.Version
	var from string
	for _, source := range p.sources {
		version, found, why := p.versionIn(source, s.component)
		if why.Words != "" {
			return image.Version{}, false, why
		}
		if !found {
			continue
		}
		if from != "" && !SameRollout(wanted, version) {
			return image.Version{}, false, parentsDiffer(s.component, from, wanted, source.Environment, version)
		}
		if from == "" || wanted.Digest == "" {
			wanted, from = version, source.Environment
		}
	}
	return wanted, from != "", Reason{}
}

// versionIn returns what a source says of a component.
func (p *planner) versionIn(source Place, component string) (image.Version, bool, Reason) {
	s, found := p.standingIn(source, component)
	if !found {
		return image.Version{}, false, Reason{}
	}
	version, agreed := s.agreed()
	if !agreed {
		return version, false, disagrees(source.Environment, s)
	}
	if version.Digest == "" && p.moving(component) {
		return version, false, digestUnknown(source.Environment, component, version)
	}
	return version, true, Reason{}
}

// anyBackwards says whether a move would lead back. Such a snapshot waits as a
// whole: it is never split.
func (p *planner) anyBackwards(moves []Move) (Reason, bool) {
	for _, s := range p.standing {
		i := slices.IndexFunc(moves, func(m Move) bool { return m.Component == s.component })
		if i < 0 {
			continue
		}
		policy := p.Policies[s.component]
		if present, back := s.newerThan(moves[i].To, policy); back {
			return backwards(s.component, present, moves[i].To), true
		}
	}
	return Reason{}, false
}

// parentSnapshot is what the environments before hold of this application.
func (p *planner) parentSnapshot() Snapshot {
	snapshot := Snapshot{}
	for _, source := range p.sources {
		for _, s := range p.survey.standing[source] {
			snapshot[s.component] = s.pinned()
		}
	}
	return snapshot
}
