package promotion

import (
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/state"
)

// Plan decides about every place: environments parents first, in them the
// applications by name. It is pure; the same observation and time give the same
// decisions.
func Plan(observation Observation, now time.Time) []Decision {
	s := newSurvey(observation)
	decisions := make([]Decision, 0, len(observation.Targets))
	for _, environment := range s.Scope() {
		for _, application := range s.applicationsOf(environment) {
			decisions = append(decisions, newPlanner(s, Target{environment, application}, now).plan())
		}
	}
	return decisions
}

// planner decides about one place.
type planner struct {
	*survey
	place    Target
	settings config.Environment // within the server's limits
	capped   []Condition        // what these changed
	present  Current
	standing []standing
	sources  []Target // see sourcesOf
	now      time.Time

	stood     [][]stretch    // see stretches
	back      bool           // see lookBack
	request   *state.Request // that counts here; nil: none
	fulfilled *state.Request // that is done
	rolling   bool           // the decision is a rollback
}

func newPlanner(s *survey, target Target, now time.Time) *planner {
	settings, capped := s.settings(target.Environment, target.Application)
	p := &planner{
		survey:   s,
		place:    target,
		settings: settings,
		capped:   capped,
		present:  s.Targets[target],
		standing: s.standing[target],
		sources:  s.sourcesOf(settings.After, target.Application),
		now:      now,
	}
	p.takeRequest()
	return p
}

// plan decides. That nothing differs cannot be said of a place with files that
// may hold something else.
func (p *planner) plan() Decision {
	d := p.hold(p.decide())
	d.Fulfilled = p.fulfilledBy(d)
	if d.State == Same && len(p.present.Refusals) > 0 {
		d.State, d.Reason = Refused, RefusedBy(p.present.Refusals)
	}
	if open, found := p.open(); found && open.Foreign == "" && d.State != Proposed {
		disposition := p.disposition(d, open)
		d.Disposition = &disposition
		if d.State == Unanswered {
			d.OpenMoves = p.movesTo(open.Snapshots[d.Application])
		}
	}
	return d
}

// decide walks from what makes a decision impossible to what it would be.
func (p *planner) decide() Decision {
	if why, away := p.Unavailable[p.place.Environment]; away {
		return p.decision(NotCheckedOut, Reason{Rule: RuleBranch, Message: why})
	}
	if _, here := p.Targets[p.place]; !here {
		return p.decision(Absent, absent(p.place))
	}
	if len(p.standing) == 0 {
		return p.withoutReference()
	}
	if d, rolling := p.rollback(); rolling {
		return d
	}
	if d, named := p.fromRequest(); named {
		return d
	}
	if len(p.settings.After) == 0 || p.givenDirectly() {
		return p.fromRegistry()
	}
	return p.fromParents()
}

// givenDirectly says that a person named both the environment and the versions:
// then they go straight in, whatever stands before it.
func (p *planner) givenDirectly() bool {
	if !p.Requested[p.place.Environment] {
		return false
	}
	return slices.ContainsFunc(p.standing, func(s standing) bool {
		return p.Available[s.component].Explicit
	})
}

// withoutReference tells files that hold none from files that could not be read.
func (p *planner) withoutReference() Decision {
	if len(p.present.Refusals) > 0 {
		return p.decision(Refused, RefusedBy(p.present.Refusals))
	}
	return p.decision(NoReference, noReference(p.parentSnapshot()))
}

// decision makes a decision that moves nothing.
func (p *planner) decision(state State, reason Reason) Decision {
	return Decision{Target: p.place, State: state, Reason: reason, Snapshot: p.snapshot(nil)}
}

// repositoryOf returns the repository of a component of the place.
func (p *planner) repositoryOf(component string) image.Repository {
	for _, s := range p.standing {
		if s.component == component {
			return s.repository
		}
	}
	return image.Repository{}
}

// snapshot is what the place holds after the moves.
func (p *planner) snapshot(moves []Move) Snapshot {
	snapshot := Snapshot{}
	for _, s := range p.standing {
		snapshot[s.component] = s.pinned()
	}
	return snapshot.With(moves)
}

// propose makes the decision for a difference: proposed, unless people, a
// condition, the way of proposing, or a file that cannot be written is in the way.
func (p *planner) propose(moves []Move, reason Reason, conditions []Condition) Decision {
	d := p.draft(moves, reason, conditions)
	d.Request = p.requestFor(d.Snapshot)
	if answer, why, answered := p.answered(moves); answered {
		d.State, d.Reason = answer, why
	} else if blocking, blocked := FirstBlocking(conditions, p.Checkout); blocked {
		d.State, d.Reason = Waiting, BlockedBy(blocking)
	} else if why, held := p.heldByPropose(d); held {
		d.State, d.Reason = Waiting, why
	}
	return p.refuse(d)
}

// draft is the decision for a difference that nothing is in the way of.
func (p *planner) draft(moves []Move, reason Reason, conditions []Condition) Decision {
	return Decision{
		Target:     p.place,
		State:      Proposed,
		Reason:     reason,
		Snapshot:   p.snapshot(moves),
		Moves:      moves,
		Conditions: conditions,
		Gates:      p.gates(),
	}
}

// refuse stops a decision where there is no way to land it, or a file cannot be
// written.
func (p *planner) refuse(d Decision) Decision {
	if why, missing := p.needsForge(); missing {
		d.State, d.Reason = Refused, why
	}
	if len(p.present.Refusals) > 0 {
		d.State, d.Reason = Refused, RefusedBy(p.present.Refusals)
	}
	return d
}

// heldByPropose says whether somebody has to ask first.
func (p *planner) heldByPropose(d Decision) (Reason, bool) {
	if why, never := p.neverProposed(); never {
		return why, true
	}
	if p.settings.Propose != config.ProposeManual || p.Requested[p.place.Environment] || d.Request != nil {
		return Reason{}, false
	}
	if p.request != nil {
		return Reason{Rule: RulePropose, Message: "propose is manual: another snapshot was asked for"}, true
	}
	return Reason{Rule: RulePropose, Message: "propose is manual: waits until a person asks for it"}, true
}

// neverProposed says whether the differences of the place are only reported.
func (p *planner) neverProposed() (Reason, bool) {
	if p.settings.Propose != config.ProposeNever {
		return Reason{}, false
	}
	return Reason{Rule: RulePropose, Message: "propose is never: the difference is only reported"}, true
}
