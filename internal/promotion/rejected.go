package promotion

import (
	"slices"

	"promoter/internal/state"
)

// answered says whether people gave an answer to what the moves would bring, and
// the state that it gives the place. It is by versions: one that is not wanted
// keeps the whole snapshot out, whatever stands beside it.
func (p *planner) answered(moves []Move) (State, Reason, bool) {
	for _, move := range moves {
		if s, why, answered := p.answerTo(move); answered {
			return s, why, true
		}
	}
	return "", Reason{}, false
}

// answerTo is the answer of people to one version in the place: they rejected it,
// or took it back out of the files. Of a moving tag that is its publisher going
// back, which may have other reasons.
func (p *planner) answerTo(move Move) (State, Reason, bool) {
	if rejection, rejected := p.State.Rejected(state.Target(p.place), p.repositoryOf(move.Component), move.To); rejected {
		return Rejected, Reason{Rule: RuleRejected, Message: rejectedWords(move, rejection)}, true
	}
	if p.moving(move.Component) && p.stoodHere(move) {
		return Waiting, movedBack(move.Component, move.From, move.To), true
	}
	if taken, was := p.takenHere(move); was {
		return Reverted, takenBefore(move, taken), true
	}
	return "", Reason{}, false
}

// takenHere returns what a person took back in the place, if the move would bring
// it again.
func (p *planner) takenHere(move Move) (Reversion, bool) {
	all := p.Reverted[p.place]
	i := slices.IndexFunc(all, func(t Reversion) bool {
		return t.Component == move.Component && SameRollout(t.Version, move.To)
	})
	if i < 0 {
		return Reversion{}, false
	}
	return all[i], true
}

// stoodHere says whether a version stood in the place before, and went since the
// place was last resumed.
func (p *planner) stoodHere(move Move) bool {
	if _, taken := p.takenHere(move); taken {
		return true
	}
	resumed := p.State.ResumedAt(state.Target(p.place))
	return slices.ContainsFunc(p.Landings[p.place], func(l Landing) bool {
		landed, has := l.Snapshot[move.Component]
		if !has || landed.Version.Digest == "" || landed.Version.Digest != move.To.Digest {
			return false
		}
		return l.Until.IsZero() || l.Until.After(resumed)
	})
}
