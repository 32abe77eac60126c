package promotion

import (
	"slices"
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
	c := p.choose()
	if c.why.Message != "" {
		return p.waiting(c.moves, c.why)
	}
	if len(c.moves) == 0 {
		return p.decision(Same, AlreadySame())
	}
	return p.goOn(c)
}

// goOn proposes a candidate, or what is open already for an older one.
func (p *planner) goOn(c candidate) Decision {
	if p.Checkout {
		return p.propose(c.moves, fromParent(p.sources, c.moves, false), c.conditions)
	}
	moves, blocking, shown := p.newer(c.moves)
	past, conditions := c.past, c.conditions
	if !sameMoves(moves, c.moves) {
		past, conditions = true, slices.Concat(p.recheck(moves), p.conditions(moves))
	}
	d := p.propose(moves, fromParent(p.sources, moves, past), slices.Concat(blocking, conditions))
	d.Conditions = append(d.Conditions, shown...)
	return d
}

// nothingBefore says whether there is no snapshot to take: the application is
// nowhere before, or an environment before has files of it that tell nothing.
func (p *planner) nothingBefore() (Reason, bool) {
	if len(p.sources) == 0 {
		return nowhereBefore(p.place.Application), true
	}
	for _, source := range p.sources {
		if len(p.survey.standing[source]) == 0 {
			return nothingIn(source.Environment, p.Targets[source].Refusals), true
		}
	}
	return Reason{}, false
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
	for _, target := range p.sources {
		if why, away := p.Unavailable[target.Environment]; away {
			return Reason{Rule: RuleBranch, Message: target.Environment + " is not checked out: " + why}, true
		}
	}
	return Reason{}, false
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
