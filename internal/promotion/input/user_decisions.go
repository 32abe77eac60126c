package input

import (
	"fmt"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// UserDecision returns the state that user decisions about the moves give the
// target. One unwanted version keeps the whole snapshot out.
func UserDecision(in Target, moves []promotion.Move) (promotion.State, promotion.Reason, bool) {
	for _, move := range moves {
		if s, why, decided := UserDecisionOn(in, move); decided {
			return s, why, true
		}
	}
	return "", promotion.Reason{}, false
}

// UserDecisionOn returns what users decided about one version in the target: they
// rejected it, reverted it, or rolled it back upstream. If a moving tag goes back, that was its publisher,
// maybe for other reasons.
func UserDecisionOn(in Target, move promotion.Move) (promotion.State, promotion.Reason, bool) {
	in = in.For(rows[ofUserDecision])
	rejection, scope, rejected := in.State().RejectedBy(state.Target(in.Target), in.RepositoryOf(move.Component), move.To)
	if rejected {
		verdict := promotion.Rejected
		if rejection.Blocked { // by a bot, which decides nothing
			verdict = promotion.Waiting
		}
		text := RejectedText(in.State(), in.Target, move, rejection)
		return verdict, promotion.Reason{Rule: promotion.RuleRejected, Message: text, Scope: scope}, true
	}
	if move.Form != "" {
		return "", promotion.Reason{}, false
	}
	if why, left := LeftUpstream(in, move); left {
		return promotion.Rejected, why, true
	}
	reverted, wasReverted := reversionOf(in.History(), move)
	if in.Moving(move.Component) && (wasReverted || LandedBefore(in, move)) {
		return promotion.Waiting, MovedBack(move.Component, move.From, move.To), true
	}
	if wasReverted {
		return promotion.Reverted, revertedBefore(move, reverted), true
	}
	return "", promotion.Reason{}, false
}

// BlockedByBot reports whether a user decision is none: a bot closed a pull request again, which waits for a user.
func BlockedByBot(verdict promotion.State, why promotion.Reason) bool {
	return verdict == promotion.Waiting && why.Rule == promotion.RuleRejected
}

// LeftUpstream returns why a target does not get a version: an environment that it follows, directly or
// indirectly, is leaving it by a rollback, and no user asked for exactly this version in the target since
// then. At the same time, the rollback counts.
func LeftUpstream(in Target, move promotion.Move) (promotion.Reason, bool) {
	in = in.For(rows[ofUserDecision])
	if move.Form != "" { // the target has it
		return promotion.Reason{}, false
	}
	asked := askedFor(in, move)
	for _, left := range in.leavingUpstream() {
		if left.Covers(in.RepositoryOf(move.Component), move.To) && !asked.After(left.At) {
			return leftUpstream(move, left), true
		}
	}
	return promotion.Reason{}, false
}

// askedFor returns when a user asked for the version of a move in the target, by a request that names it or
// by a rollback to it; the zero time if none did. A pipeline that posts a version is no user.
func askedFor(in Target, move promotion.Move) (at time.Time) {
	if back := in.Record().Rollback; back != nil && !back.Automatic {
		if to, err := image.Parse(back.Images[move.Component]); err == nil && to.Repository == in.RepositoryOf(move.Component) &&
			promotion.SameRollout(to.Version(), move.To) {
			at = back.At
		}
	}
	if r := in.Request; r != nil && r.Posted == "" && len(r.With) > 0 && r.At.After(at) && namedByUser(in, []promotion.Move{move}) {
		at = r.At
	}
	return at
}

func leftUpstream(move promotion.Move, left promotion.Leaving) promotion.Reason {
	return promotion.Reason{
		Rule: promotion.RuleLeftUpstream, Scope: state.Target(left.Target),
		Message: fmt.Sprintf("%s was rolled back in %s by %s on %s%s", promotion.TargetsText(move), left.Target.Environment,
			promotion.Actor(left.Act), promotion.Day(left.At), promotion.Because(left.Act)),
	}
}

// reversionOf returns what a user reverted in the target, if the move would bring
// it again.
func reversionOf(past History, move promotion.Move) (promotion.Reversion, bool) {
	for _, r := range past.Reverted() {
		if r.Component == move.Component && promotion.SameRollout(r.Version, move.To) {
			return r, true
		}
	}
	return promotion.Reversion{}, false
}

// LandedBefore reports whether a version was in the target, and was replaced since
// it was last allowed again. What a tag points to is known by the digest alone.
func LandedBefore(in Target, move promotion.Move) bool {
	in = in.For(rows[ofUserDecision])
	allowed := in.State().UnrejectedAt(state.Target(in.Target), in.RepositoryOf(move.Component), move.To)
	for l := range in.History().Landings(in.Target) {
		landed := l.Snapshot[move.Component].Version
		if landed.Digest == "" || landed.Digest != move.To.Digest {
			continue
		}
		if l.Until.IsZero() || l.Until.After(allowed) {
			return true
		}
	}
	return false
}

// MovedBack is the reason of a moving tag that points to a version that was there before.
func MovedBack(component string, from, to image.Version) promotion.Reason {
	move := promotion.Move{Component: component, From: from, To: to}
	return promotion.Reason{Rule: promotion.RuleBackwards, Message: "moved back: " + move.String()}
}

// RejectedText describes the rejection, in a target, of the version that a move leads to.
func RejectedText(s state.State, at promotion.Target, move promotion.Move, r state.Rejection) string {
	if r.Blocked {
		const blocked = "%s is blocked: the bot %s closed #%d on %s"
		text := fmt.Sprintf(blocked, promotion.TargetsText(move), promotion.Actor(r.Act), r.Number, promotion.Day(r.At))
		return text + promotion.Because(r.Act)
	}
	text := fmt.Sprintf("%s was rejected by %s on %s", promotion.TargetsText(move), promotion.Actor(r.Act), promotion.Day(r.At))
	if r.Number != 0 {
		text += fmt.Sprintf(" (#%d)", r.Number)
	}
	return text + promotion.Because(r.Act) + promotion.AppliesText("rejected", s.Applies(state.Target(at), r), state.Target(at))
}

func revertedBefore(move promotion.Move, reverted promotion.Reversion) promotion.Reason {
	message := promotion.TargetsText(move) + " was here before and was reverted"
	if reverted.Commit != "" {
		message += " (commit " + reverted.Commit[:min(len(reverted.Commit), promotion.ShortHex)] + ")"
	}
	return promotion.Reason{Rule: promotion.RuleReverted, Message: message}
}
