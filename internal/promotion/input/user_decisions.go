package input

import (
	"fmt"
	"slices"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// UserDecision returns the state that user decisions about the moves give the
// target. One unwanted version keeps the whole snapshot out.
func (in *Target) UserDecision(moves []promotion.Move) (promotion.State, promotion.Reason, bool) {
	for _, move := range moves {
		if s, why, decided := in.UserDecisionOn(move); decided {
			return s, why, true
		}
	}
	return "", promotion.Reason{}, false
}

// UserDecisionOn returns what users decided about one version in the target: they
// rejected it, or reverted it. If a moving tag goes back, that was its publisher,
// maybe for other reasons.
func (in *Target) UserDecisionOn(move promotion.Move) (promotion.State, promotion.Reason, bool) {
	if rejection, rejected := in.Obs.State.Rejected(state.Target(in.Target), in.RepositoryOf(move.Component), move.To); rejected {
		return promotion.Rejected, promotion.Reason{Rule: promotion.RuleRejected, Message: RejectedText(move, rejection)}, true
	}
	if move.Form != "" {
		return "", promotion.Reason{}, false
	}
	reverted, wasReverted := in.reversionOf(move)
	if in.Index.Moving(move.Component) && (wasReverted || in.LandedBefore(move)) {
		return promotion.Waiting, MovedBack(move.Component, move.From, move.To), true
	}
	if wasReverted {
		return promotion.Reverted, revertedBefore(move, reverted), true
	}
	return "", promotion.Reason{}, false
}

// reversionOf returns what a user reverted in the target, if the move would bring
// it again.
func (in *Target) reversionOf(move promotion.Move) (promotion.Reversion, bool) {
	for _, r := range in.Obs.Reverted[in.Target] {
		if r.Component == move.Component && promotion.SameRollout(r.Version, move.To) {
			return r, true
		}
	}
	return promotion.Reversion{}, false
}

// LandedBefore reports whether a version was in the target, and was replaced since
// the target was last resumed.
func (in *Target) LandedBefore(move promotion.Move) bool {
	resumed := in.Obs.State.ResumedAt(state.Target(in.Target))
	return slices.ContainsFunc(in.Obs.Landings[in.Target], func(l promotion.Landing) bool {
		landed, found := l.Snapshot[move.Component]
		if !found || landed.Version.Digest == "" || landed.Version.Digest != move.To.Digest {
			return false
		}
		return l.Until.IsZero() || l.Until.After(resumed)
	})
}

// MovedBack is the reason of a moving tag that points to a version that was there before.
func MovedBack(component string, from, to image.Version) promotion.Reason {
	return promotion.Reason{Rule: promotion.RuleBackwards, Message: "moved back: " + promotion.Move{Component: component, From: from, To: to}.String()}
}

// RejectedText describes the rejection of the version that a move leads to.
func RejectedText(move promotion.Move, r state.Rejection) string {
	text := fmt.Sprintf("%s was rejected by %s on %s", promotion.TargetsText(move), promotion.Actor(r.Act), promotion.Day(r.At))
	if r.Number != 0 {
		text += fmt.Sprintf(" (#%d)", r.Number)
	}
	return text + promotion.Because(r.Act)
}

func revertedBefore(move promotion.Move, reverted promotion.Reversion) promotion.Reason {
	message := promotion.TargetsText(move) + " was here before and was reverted"
	if reverted.Commit != "" {
		message += " (commit " + reverted.Commit[:min(len(reverted.Commit), promotion.ShortHex)] + ")"
	}
	return promotion.Reason{Rule: promotion.RuleReverted, Message: message}
}
