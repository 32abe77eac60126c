package promotion

import (
	"promoter/internal/state"
)

// hold stops a decision where people stopped the place: nothing is proposed, and
// nothing lands. What they said stands before every other reason to wait.
func (p *planner) hold(d Decision) Decision {
	if d.State != Waiting && d.State != Proposed {
		return d
	}
	held, stopped := p.State.Held(state.Target(p.place), p.now)
	if !stopped || p.rolling && p.ownHold(held) {
		return d
	}
	d.State, d.Reason = Waiting, heldBy(held)
	return d
}

// ownHold says whether a hold came with the rollback of the place, and so is no
// reason against it.
func (p *planner) ownHold(held state.Held) bool {
	return held.Place == state.Target(p.place) && !held.Freeze && held.Problem == ""
}
