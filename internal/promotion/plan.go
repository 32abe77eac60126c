package promotion

import (
	"slices"
	"time"

	"promoter/internal/config"
)

// Plan decides about every place: environments parents first, in them the
// applications by name. It is pure; the same observation and time give the same
// decisions.
func Plan(observed Observed, now time.Time) []Decision {
	var decisions []Decision
	for _, environment := range observed.Config.Order() {
		for _, application := range applicationsOf(observed, environment) {
			p := newPlanner(observed, Place{environment, application}, now)
			decisions = append(decisions, p.decide())
		}
	}
	return decisions
}

// applicationsOf returns the applications that an environment has files of, or
// could get from an environment before it.
func applicationsOf(observed Observed, environment string) []string {
	lineage := append(observed.Config.Ancestors(environment), environment)
	var names []string
	for place := range observed.Places {
		if slices.Contains(lineage, place.Environment) {
			names = append(names, place.Application)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 && observed.Away[environment] != "" {
		return []string{""}
	}
	return names
}

// planner decides about one place.
type planner struct {
	Observed
	place    Place
	settings config.Environment
	present  Present
	standing []standing
	now      time.Time
}

func newPlanner(observed Observed, place Place, now time.Time) planner {
	present := observed.Places[place]
	return planner{
		Observed: observed,
		place:    place,
		settings: observed.Config.Settings(place.Environment, place.Application),
		present:  present,
		standing: standings(present, observed.Facts),
		now:      now,
	}
}

// decide walks from what makes a decision impossible to what it would be.
func (p planner) decide() Decision {
	if why, away := p.Away[p.place.Environment]; away {
		return p.decision(NotCheckedOut, Reason{Rule: RuleBranch, Words: why})
	}
	if _, here := p.Places[p.place]; !here {
		return p.decision(Absent, absent(p.place))
	}
	if len(p.standing) == 0 {
		return p.withoutReference()
	}
	if len(p.settings.After) == 0 || p.givenDirectly() {
		return p.fromRegistry()
	}
	return p.fromParents()
}

// givenDirectly says that a person named both the environment and the versions:
// then they go straight in, whatever stands before it.
func (p planner) givenDirectly() bool {
	if !p.Asked[p.place.Environment] {
		return false
	}
	return slices.ContainsFunc(p.standing, func(s standing) bool {
		return p.Offers[s.component].Given
	})
}

// withoutReference tells files that hold none from files that could not be read.
func (p planner) withoutReference() Decision {
	if len(p.present.Refusals) > 0 {
		return p.decision(Refused, RefusedBy(p.present.Refusals))
	}
	return p.decision(NoReference, noReference(p.parentSnapshot()))
}

// decision makes a decision that moves nothing.
func (p planner) decision(state State, reason Reason) Decision {
	return Decision{Place: p.place, State: state, Reason: reason, Snapshot: p.snapshot(nil)}
}

// snapshot is what the place holds after the moves.
func (p planner) snapshot(moves []Move) Snapshot {
	snapshot := Snapshot{}
	for _, s := range p.standing {
		snapshot[s.component] = s.pinned()
	}
	for _, move := range moves {
		snapshot[move.Component] = Pinned{Repository: snapshot[move.Component].Repository, Version: move.To}
	}
	return snapshot
}

// propose makes the decision for a difference: proposed, unless a condition, the
// way of proposing, or a file that cannot be written is in the way.
func (p planner) propose(moves []Move, reason Reason, conditions []Condition) Decision {
	d := Decision{
		Place:      p.place,
		State:      Proposed,
		Reason:     reason,
		Snapshot:   p.snapshot(moves),
		Moves:      moves,
		Conditions: conditions,
		Gates:      p.gates(),
	}
	if blocking, blocked := firstBlocking(conditions, p.Checkout); blocked {
		d.State, d.Reason = Waiting, blockedBy(blocking)
	} else if why, held := p.heldByPropose(); held {
		d.State, d.Reason = Waiting, why
	}
	if len(p.present.Refusals) > 0 {
		d.State, d.Reason = Refused, RefusedBy(p.present.Refusals)
	}
	return d
}

// heldByPropose says whether somebody has to ask first.
func (p planner) heldByPropose() (Reason, bool) {
	switch p.settings.Propose {
	case config.ProposeNever:
		return Reason{Rule: RulePropose, Words: "propose is never: the difference is only reported"}, true
	case config.ProposeManual:
		if !p.Asked[p.place.Environment] {
			return Reason{Rule: RulePropose, Words: "propose is manual: waits until a person asks for it"}, true
		}
	}
	return Reason{}, false
}
