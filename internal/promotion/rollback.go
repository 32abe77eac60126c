package promotion

import (
	"promoter/internal/image"
	"promoter/internal/state"
)

// rollback decides about a place that a person rolled back: it wants exactly the
// images of the rollback, past conditions and order. Its gates stay. Once the
// files hold them there is nothing more to roll back, and the hold that came with
// it keeps everything else out.
func (p *planner) rollback() (Decision, bool) {
	back := p.State.At(state.Place(p.place)).Rollback
	if back == nil {
		return Decision{}, false
	}
	var moves []Move
	for _, s := range p.standing {
		text, named := back.Images[s.component]
		if !named {
			continue
		}
		to, err := image.Parse(text)
		if err != nil || to.Repository != s.repository {
			p.rolling = true
			return p.waiting(nil, rollbackUnreadable(s.component, text)), true
		}
		if version := p.Facts.described(s.repository, image.Version{Tag: to.Tag, Digest: to.Digest}); s.differs(version, p.moving(s.component)) {
			moves = append(moves, s.move(version))
		}
	}
	if len(moves) == 0 {
		return Decision{}, false
	}
	return p.rollBack(moves, *back), true
}

// rollBack makes the decision. What people answered before, such as a rejection of
// these very versions, is older than their wish to have them.
func (p *planner) rollBack(moves []Move, back state.RolledBack) Decision {
	p.rolling = true
	d := p.draft(moves, rolledBack(moves, back), p.recheck(moves))
	if blocking, blocked := firstBlocking(d.Conditions, p.Checkout); blocked {
		d.State, d.Reason = Waiting, blockedBy(blocking)
	}
	if why, never := p.neverProposed(); never {
		d.State, d.Reason = Waiting, why
	}
	return p.refuse(d)
}
