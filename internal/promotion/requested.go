package promotion

import (
	"slices"

	"promoter/internal/config"
	"promoter/internal/state"
)

// takeRequest finds what people asked for in the place, or in its environment;
// versions are named for one place only. A request whose snapshot landed is done, even while the state still holds it:
// otherwise it would bring its versions back when the next one lands.
func (p *planner) takeRequest() {
	own := p.State.At(state.Target(p.place)).Request
	if own == nil {
		wide := p.State.At(state.Target{Environment: p.place.Environment, Application: state.All}).Request
		if wide != nil && len(wide.With) == 0 {
			p.request = wide
		}
		return
	}
	if own.Snapshot != "" && p.landed(own.Snapshot) {
		p.fulfilled = own
		return
	}
	p.request = own
}

// landed says whether a snapshot stands or stood in the place.
func (p *planner) landed(id string) bool {
	return slices.ContainsFunc(p.Landings[p.place], func(l Landing) bool { return l.Snapshot.ID() == id })
}

// requestFor returns the request that counts for a snapshot: one that names its
// versions, one that is not bound yet, or one bound to it.
func (p *planner) requestFor(snapshot Snapshot) *state.Request {
	r := p.request
	if r == nil || r.Snapshot != "" && len(r.With) == 0 && r.Snapshot != snapshot.ID() {
		return nil
	}
	return r
}

// lookingFor says that a person asked for one snapshot in particular.
func (p *planner) lookingFor() bool {
	return p.settings.Propose == config.ProposeManual && p.request != nil && p.request.Snapshot != ""
}

// fulfilledBy returns the place's own request when the decision leaves nothing of
// it to do.
func (p *planner) fulfilledBy(d Decision) *state.Request {
	if p.fulfilled != nil {
		return p.fulfilled
	}
	own := p.State.At(state.Target(p.place)).Request
	if own != nil && d.State == Same {
		return own
	}
	return nil
}

// fromRequest decides about a place for which a person named versions: what it
// holds and these go in, whatever stands before it, and the order is not asked.
//
// The conditions of the environments before still hold. They are asked of the
// newest snapshot there that held the named versions; one that never had them
// fulfills no condition, but a tag that points at them counts.
func (p *planner) fromRequest() (Decision, bool) {
	if p.request == nil || len(p.request.With) == 0 {
		return Decision{}, false
	}
	given := p.Explicit[p.place]
	if len(given) == 0 {
		return p.waiting(nil, nothingRequested(*p.request)), true
	}
	var moves []Move
	for _, s := range p.standing {
		available, named := given[s.component]
		switch {
		case !named:
		case available.Err != nil:
			return p.decision(Unanswered, noAnswer(s.component, available.Err)), true
		case !available.Found:
			return p.waiting(nil, noVersion(s.component, available)), true
		case s.differs(available.Version, p.moving(s.component)):
			moves = append(moves, s.move(available.Version))
		}
	}
	if len(moves) == 0 {
		p.fulfilled, p.request = p.request, nil
		return Decision{}, false
	}
	return p.propose(moves, requestedBy(moves, *p.request), p.conditions(moves)), true
}

// named says whether a person named the versions of all moves.
func (p *planner) named(moves []Move) bool {
	given := p.Explicit[p.place]
	return len(given) > 0 && !slices.ContainsFunc(moves, func(m Move) bool {
		available, named := given[m.Component]
		return !named || !SameRollout(available.Version, m.To)
	})
}
