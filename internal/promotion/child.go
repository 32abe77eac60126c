package promotion

import (
	"cmp"
	"fmt"
	"slices"

	"promoter/internal/image"
)

// fromParents decides about a place that follows other environments: it wants
// what they hold.
func (p planner) fromParents() Decision {
	if reason, away := p.parentAway(); away {
		return p.decision(NotCheckedOut, reason)
	}
	var moves []Move
	for _, s := range p.standing {
		wanted, found, why := p.fromParentsOf(s)
		if why.Words != "" {
			return p.waiting(moves, why)
		}
		if !found || !s.differs(wanted, p.moving(s.component)) {
			continue
		}
		moves = append(moves, s.move(wanted))
	}
	if len(moves) == 0 {
		return p.decision(Same, AlreadySame())
	}
	if reason, back := p.anyBackwards(moves); back {
		return p.waiting(moves, reason)
	}
	return p.propose(moves, fromParent(p.sources(), moves), p.conditions(moves))
}

func (p planner) waiting(moves []Move, reason Reason) Decision {
	d := p.decision(Waiting, reason)
	d.Moves, d.Snapshot = moves, p.snapshot(moves)
	return d
}

func (p planner) moving(component string) bool {
	return isMoving(p.Policies[component])
}

// parents returns the names of the environments that the place follows.
func (p planner) parents() []string {
	names := make([]string, 0, len(p.settings.After))
	for _, parent := range p.settings.After {
		names = append(names, parent.Environment)
	}
	return names
}

// parentAway says whether an environment that must be looked at is not at hand.
func (p planner) parentAway() (Reason, bool) {
	for _, place := range p.sources() {
		if why, away := p.Away[place.Environment]; away {
			return Reason{Rule: RuleBranch, Words: place.Environment + " is not checked out: " + why}, true
		}
	}
	return Reason{}, false
}

// sources are the places that the snapshot comes from. An environment in which
// the application is absent is looked through, to the ones before it.
func (p planner) sources() []Place {
	var found []Place
	for _, parent := range p.parents() {
		found = append(found, p.lookThrough(Place{parent, p.place.Application})...)
	}
	slices.SortFunc(found, func(a, b Place) int { return cmp.Compare(a.Environment, b.Environment) })
	return slices.Compact(found)
}

// lookThrough ends because the config refuses cycles.
func (p planner) lookThrough(place Place) []Place {
	_, here := p.Places[place]
	_, away := p.Away[place.Environment]
	if here || away {
		return []Place{place}
	}
	var found []Place
	for _, parent := range p.Config.Settings(place.Environment, place.Application).After {
		found = append(found, p.lookThrough(Place{parent.Environment, place.Application})...)
	}
	return found
}

// fromParentsOf returns the version of one component on which all sources agree.
// A source that does not refer to the component has no say.
func (p planner) fromParentsOf(s standing) (image.Version, bool, Reason) {
	var wanted image.Version
	var from string
	for _, source := range p.sources() {
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
func (p planner) versionIn(source Place, component string) (image.Version, bool, Reason) {
	for _, s := range standings(p.Places[source], p.Facts) {
		if s.component != component {
			continue
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
	return image.Version{}, false, Reason{}
}

// anyBackwards says whether a move would lead back. Such a snapshot waits as a
// whole: it is never split.
func (p planner) anyBackwards(moves []Move) (Reason, bool) {
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
func (p planner) parentSnapshot() Snapshot {
	snapshot := Snapshot{}
	for _, source := range p.sources() {
		for _, s := range standings(p.Places[source], p.Facts) {
			snapshot[s.component] = s.pinned()
		}
	}
	return snapshot
}

func parentsDiffer(component, a string, inA image.Version, b string, inB image.Version) Reason {
	return Reason{Rule: RuleParentsDiffer, Words: fmt.Sprintf("the environments before differ: %s %s in %s, %s in %s",
		component, Label(inA), a, Label(inB), b)}
}

func disagrees(environment string, s standing) Reason {
	labels := make([]string, 0, len(s.versions))
	for _, v := range s.versions {
		labels = append(labels, Label(v))
	}
	slices.Sort(labels)
	return Reason{Rule: RuleParentsDiffer, Words: fmt.Sprintf("%s holds several versions of %s: %q",
		environment, s.component, slices.Compact(labels))}
}

func digestUnknown(environment, component string, v image.Version) Reason {
	return Reason{Rule: RuleDigestUnknown, Words: fmt.Sprintf("digest unknown: %s holds %s as the moving tag %s without its digest",
		environment, component, v.Tag)}
}
