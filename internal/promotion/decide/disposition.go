package decide

import (
	"slices"

	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/state"
)

// openMoves returns the moves of an open pull request, as long as all of them are
// wanted: users did not reject or revert them, and the config still selects them.
// The versions come from the trailers of its head commit only.
func openMoves(in input.Target, open promotion.Open) ([]promotion.Move, bool) {
	if open.Foreign != "" {
		return nil, false
	}
	in = in.For(parts[ofDisposition])
	moves := input.MovesTo(in, open.Snapshots[in.Target.Application])
	for _, move := range moves {
		if _, unwanted := unwantedVersion(in, move); unwanted || !selected(in, move) {
			return nil, false
		}
	}
	return moves, len(moves) > 0
}

// unwantedVersion returns why users no longer want a version here: they decided
// so here or in a source, or its last landing in a source was reverted.
func unwantedVersion(in input.Target, move promotion.Move) (promotion.Reason, bool) {
	if _, why, decided := input.UserDecisionOn(in, move); decided {
		return why, true
	}
	for _, source := range in.Sources {
		rejection, rejected := in.State().Rejected(state.Target(source), in.RepositoryOf(move.Component), move.To)
		if rejected && move.Form == "" { // another form of what is here already takes nothing from there
			text := input.RejectedText(in.State(), source, move, rejection)
			return promotion.Reasonf(promotion.RuleRejected, "%s: %s", source.Environment, text), true
		}
		if last, landed := lastLanding(in, source, move); landed && last.Reverted {
			return promotion.Reasonf(promotion.RuleReverted, "%s was reverted in %s", promotion.TargetsText(move), source.Environment), true
		}
	}
	return promotion.Reason{}, false
}

// lastLanding returns the newest landing of a version in a source.
func lastLanding(in input.Target, source promotion.Target, move promotion.Move) (input.Landed, bool) {
	for landed := range in.History().Landings(source) {
		pinned, found := landed.Snapshot[move.Component]
		if found && promotion.SameRollout(pinned.Version, move.To) {
			return landed, true
		}
	}
	return input.Landed{}, false
}

// selected reports whether the config still selects a version.
func selected(in input.Target, move promotion.Move) bool {
	policy := in.Policies[move.Component]
	return policy == nil || move.To.Tag == "" || policy.Admits(move.To.Tag)
}

// dispose returns what becomes of the open pull request of a target for which
// nothing is proposed. It is closed only if the files, a user, or the config show
// that nothing can come of it. All other obstacles may pass.
func dispose(in input.Target, d promotion.Decision, open promotion.Open) promotion.Disposition {
	in = in.For(parts[ofDisposition])
	keep := func(why promotion.Reason) promotion.Disposition { return promotion.Disposition{Reason: why} }
	closing := func(why promotion.Reason) promotion.Disposition {
		return promotion.Disposition{Close: true, Reason: why}
	}
	switch d.State {
	case promotion.Refused, promotion.Unanswered, promotion.NotCheckedOut:
		return keep(d.Reason)
	case promotion.Absent, promotion.NoReference:
		return closing(d.Reason)
	}

	snapshot, known := open.Snapshots[d.Application]
	differs := slices.ContainsFunc(in.Refs, func(ref input.Ref) bool {
		pinned, found := snapshot[ref.Component]
		_, moves := input.MoveTo(in, ref, pinned.Version)
		return found && moves
	})
	if known && !differs {
		if gone := notFollowed(in, snapshot); len(gone) > 0 {
			return closing(noLongerFollowed(in.Config, gone))
		}
		return closing(promotion.AlreadySame())
	}
	for _, move := range input.MovesTo(in, snapshot) { // a request or a rollback for it is older
		if why, left := input.LeftUpstream(in, move); left {
			return closing(why)
		}
	}
	if d.Request != nil || d.Returned == nil && in.State().At(state.Target(d.Target)).Rollback != nil {
		return keep(d.Reason)
	}

	moves := input.MovesTo(in, snapshot)
	for _, move := range moves {
		if why, unwanted := unwantedVersion(in, move); unwanted {
			return closing(why)
		}
	}
	held, isHeld := in.Held(false)
	switch {
	case isHeld:
		return keep(heldBy(in.Target, held))
	case !known && d.State == promotion.Waiting:
		return keep(d.Reason)
	case !known:
		return closing(d.Reason)
	case len(moves) == 0:
		return closing(promotion.Reason{Rule: promotion.RuleSame, Message: "the files are newer"})
	}
	for _, move := range moves {
		switch {
		case !selected(in, move):
			return closing(promotion.Reasonf(promotion.RuleGone, "no longer selected by the config: %s", promotion.TargetsText(move)))
		case d.State == promotion.Same && !inSources(in, move):
			return closing(promotion.Reasonf(promotion.RuleSame, "no longer in any upstream environment: %s", promotion.TargetsText(move)))
		}
	}
	if why, never := input.NeverProposed(in.Settings); never {
		return closing(why)
	}
	return keep(d.Reason)
}

// notFollowed returns the components of a snapshot that the target has no longer.
func notFollowed(in input.Target, snapshot promotion.Snapshot) []string {
	return slices.DeleteFunc(snapshot.Components(), func(component string) bool {
		return slices.ContainsFunc(in.Refs, func(ref input.Ref) bool { return ref.Component == component })
	})
}

// inSources reports whether a version is or was in a source. A registry that does
// not list a version proves nothing, so without sources it counts as present.
func inSources(in input.Target, move promotion.Move) bool {
	if len(in.Settings.After) == 0 {
		return true
	}
	return slices.ContainsFunc(in.Sources, func(source promotion.Target) bool {
		there, found := in.Others().Ref(source, move.Component)
		if found && !there.Differs(move.To, false) {
			return true
		}
		_, landed := lastLanding(in, source, move)
		return landed
	})
}
