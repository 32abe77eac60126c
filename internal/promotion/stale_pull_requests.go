package promotion

import (
	"slices"

	"promoter/internal/state"
)

// Disposition is what becomes of an open pull request whose target has nothing
// proposed: it is kept, or closed.
type Disposition struct {
	Close  bool
	Reason Reason
}

// disposition returns what becomes of the open pull request of a target for which
// nothing is proposed. It is closed only if the files, a user, or the config show
// that nothing can come of it. Everything else may pass.
func (p *planner) disposition(d Decision, open Open) Disposition {
	switch d.State {
	case Refused, Unanswered, NotCheckedOut:
		return Disposition{Reason: d.Reason}
	case Absent, NoReference:
		return Disposition{Close: true, Reason: d.Reason}
	}
	snapshot, told := open.Snapshots[d.Application]
	if told && !p.differsFrom(snapshot) {
		return Disposition{Close: true, Reason: AlreadySame()}
	}
	if d.Request != nil || p.State.At(state.Target(d.Target)).Rollback != nil {
		return Disposition{Reason: d.Reason}
	}
	moves := p.movesTo(snapshot)
	for _, move := range moves {
		if why, taken := p.takenBack(move); taken {
			return Disposition{Close: true, Reason: why}
		}
	}
	held, isHeld := p.State.Held(state.Target(d.Target), p.now)
	switch {
	case isHeld:
		return Disposition{Reason: heldBy(held)}
	case !told:
		return Disposition{Close: d.State != Waiting, Reason: d.Reason}
	}
	return p.unwanted(d, moves)
}

// unwanted closes what no longer is a way forward.
func (p *planner) unwanted(d Decision, moves []Move) Disposition {
	if len(moves) == 0 {
		return Disposition{Close: true, Reason: Reason{Rule: RuleSame, Message: "the files are ahead of it"}}
	}
	for _, move := range moves {
		switch {
		case !p.selects(move):
			return Disposition{Close: true, Reason: Reason{Rule: RuleGone, Message: "the config does not select it any more: " + targetsInWords([]Move{move})}}
		case d.State == Same && !p.comesFrom(move):
			return Disposition{Close: true, Reason: Reason{Rule: RuleSame, Message: "no environment before holds it any more: " + targetsInWords([]Move{move})}}
		}
	}
	if why, never := p.neverProposed(); never {
		return Disposition{Close: true, Reason: why}
	}
	return Disposition{Reason: d.Reason}
}

// differsFrom says whether the files hold anything else than a snapshot.
func (p *planner) differsFrom(snapshot Snapshot) bool {
	return slices.ContainsFunc(p.standing, func(s standing) bool {
		pinned, has := snapshot[s.component]
		return has && s.differs(pinned.Version, p.moving(s.component))
	})
}

// comesFrom says whether a version still can come into the place: it stands, or
// stood, in an environment before it. Of what comes from a registry silence says
// nothing.
func (p *planner) comesFrom(move Move) bool {
	if len(p.settings.After) == 0 {
		return true
	}
	return slices.ContainsFunc(p.sources, func(source Target) bool {
		there, has := p.standingIn(source, move.Component)
		return has && !there.differs(move.To, false) || slices.ContainsFunc(p.Landings[source], func(l Landing) bool {
			pinned, landed := l.Snapshot[move.Component]
			return landed && SameRollout(pinned.Version, move.To)
		})
	})
}
