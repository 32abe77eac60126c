package promotion

import (
	"slices"

	"promoter/internal/state"
	"promoter/internal/verb"
)

// applyHold stops a decision if a user put the target on hold or froze it. The
// hold that a rollback of a user sets does not stop the rollback itself.
func applyHold(in *input, d Decision, rollback bool) Decision {
	if d.State != Waiting && d.State != Proposed {
		return d
	}
	held, stopped := in.obs.State.Held(state.Target(in.target), in.now)
	if stopped && held.Freeze {
		frozen := Condition{Name: verb.BypassFreeze, State: Pending, Reason: heldBy(held).Message}
		if in.bypass(&frozen, verb.BypassFreeze, d.Moves); frozen.State == Passed {
			d.Conditions = append(slices.Clone(d.Conditions), frozen)
			held, stopped = in.obs.State.HeldWithoutFreezes(state.Target(in.target), in.now)
		}
	}
	back := in.obs.State.At(state.Target(in.target)).Rollback
	ofRollback := rollback && !back.Automatic && held.Target == state.Target(in.target) && !held.Freeze && held.Problem == ""
	if stopped && !ofRollback {
		d.State, d.Reason = Waiting, heldBy(held)
	}
	return d
}

// userDecision returns the state that user decisions about the moves give the
// target. One unwanted version keeps the whole snapshot out.
func userDecision(in *input, moves []Move) (State, Reason, bool) {
	for _, move := range moves {
		if s, why, decided := userDecisionOn(in, move); decided {
			return s, why, true
		}
	}
	return "", Reason{}, false
}

// userDecisionOn returns what users decided about one version in the target: they
// rejected it, or reverted it. If a moving tag goes back, that was its publisher,
// maybe for other reasons.
func userDecisionOn(in *input, move Move) (State, Reason, bool) {
	if rejection, rejected := in.obs.State.Rejected(state.Target(in.target), repositoryOf(in, move.Component), move.To); rejected {
		return Rejected, Reason{Rule: RuleRejected, Message: rejectedText(move, rejection)}, true
	}
	if move.Form != "" {
		return "", Reason{}, false
	}
	reverted, wasReverted := reversionOf(in, move)
	if in.ix.moving(move.Component) && (wasReverted || landedBefore(in, move)) {
		return Waiting, movedBack(move.Component, move.From, move.To), true
	}
	if wasReverted {
		return Reverted, revertedBefore(move, reverted), true
	}
	return "", Reason{}, false
}

// reversionOf returns what a user reverted in the target, if the move would bring
// it again.
func reversionOf(in *input, move Move) (Reversion, bool) {
	return find(in.obs.Reverted[in.target], func(r Reversion) bool {
		return r.Component == move.Component && SameRollout(r.Version, move.To)
	})
}

// landedBefore reports whether a version was in the target, and was replaced since
// the target was last resumed.
func landedBefore(in *input, move Move) bool {
	resumed := in.obs.State.ResumedAt(state.Target(in.target))
	return slices.ContainsFunc(in.obs.Landings[in.target], func(l Landing) bool {
		landed, found := l.Snapshot[move.Component]
		if !found || landed.Version.Digest == "" || landed.Version.Digest != move.To.Digest {
			return false
		}
		return l.Until.IsZero() || l.Until.After(resumed)
	})
}
