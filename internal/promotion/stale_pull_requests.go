package promotion

import (
	"slices"

	"promoter/internal/state"
)

// openPullRequest returns the open pull request of the target.
func openPullRequest(in *input) (Open, bool) {
	if len(in.obs.Open) == 0 {
		return Open{}, false
	}
	open, found := in.obs.Open[HeadOf(in.settings, in.target.Application)]
	return open, found
}

// openMoves returns the moves of an open pull request, as long as all of them are
// wanted: users did not reject or revert them, and the config still selects them.
// The versions come from the trailers of its head commit only.
func openMoves(in *input, open Open) ([]Move, bool) {
	if open.Foreign != "" {
		return nil, false
	}
	moves := movesTo(in, open.Snapshots[in.target.Application])
	for _, move := range moves {
		if _, unwanted := unwantedVersion(in, move); unwanted || !selected(in, move) {
			return nil, false
		}
	}
	return moves, len(moves) > 0
}

// movesTo returns the moves from the files to a snapshot, without those that would
// lead to an older version.
func movesTo(in *input, snapshot Snapshot) []Move {
	var found []Move
	for _, ref := range in.refs {
		pinned, known := snapshot[ref.component]
		if !known || pinned.Repository != ref.repository {
			continue
		}
		to := in.obs.Facts.describe(pinned.Repository, pinned.Version)
		if _, back := ref.newerThan(to, in.obs.Policies[ref.component]); back {
			continue
		}
		if move, moves := in.moveTo(ref, to); moves {
			found = append(found, move)
		}
	}
	return found
}

// unwantedVersion returns why users no longer want a version here: they decided
// so, or its last landing in a source was reverted.
func unwantedVersion(in *input, move Move) (Reason, bool) {
	if _, why, decided := userDecisionOn(in, move); decided {
		return why, true
	}
	for _, source := range in.sources {
		landing, landed := find(in.obs.Landings[source], func(l Landing) bool {
			pinned, found := l.Snapshot[move.Component]
			return found && SameRollout(pinned.Version, move.To)
		})
		if landed && landing.Reverted {
			return Reason{Rule: RuleReverted, Message: targetsText(move) + " was reverted in " + source.Environment}, true
		}
	}
	return Reason{}, false
}

// selected reports whether the config still selects a version.
func selected(in *input, move Move) bool {
	policy := in.obs.Policies[move.Component]
	return policy == nil || move.To.Tag == "" || policy.Admits(move.To.Tag)
}

// Disposition is what becomes of an open pull request whose target has nothing
// proposed: it is kept, or closed.
type Disposition struct {
	Close  bool
	Reason Reason
}

// dispose returns what becomes of the open pull request of a target for which
// nothing is proposed. It is closed only if the files, a user, or the config show
// that nothing can come of it. All other obstacles may pass.
func dispose(in *input, d Decision, open Open) Disposition {
	keep := func(why Reason) Disposition { return Disposition{Reason: why} }
	closing := func(why Reason) Disposition { return Disposition{Close: true, Reason: why} }
	switch d.State {
	case Refused, Unanswered, NotCheckedOut:
		return keep(d.Reason)
	case Absent, NoReference:
		return closing(d.Reason)
	}

	snapshot, known := open.Snapshots[d.Application]
	differs := slices.ContainsFunc(in.refs, func(ref currentRef) bool {
		pinned, found := snapshot[ref.component]
		_, moves := in.moveTo(ref, pinned.Version)
		return found && moves
	})
	if known && !differs {
		if gone := notFollowed(in, snapshot); len(gone) > 0 {
			return closing(noLongerFollowed(in, gone))
		}
		return closing(AlreadySame())
	}
	if d.Request != nil || d.Returned == nil && in.obs.State.At(state.Target(d.Target)).Rollback != nil {
		return keep(d.Reason)
	}

	moves := movesTo(in, snapshot)
	for _, move := range moves {
		if why, unwanted := unwantedVersion(in, move); unwanted {
			return closing(why)
		}
	}
	held, isHeld := in.obs.State.Held(state.Target(d.Target), in.now)
	switch {
	case isHeld:
		return keep(heldBy(held))
	case !known && d.State == Waiting:
		return keep(d.Reason)
	case !known:
		return closing(d.Reason)
	case len(moves) == 0:
		return closing(Reason{Rule: RuleSame, Message: "the files are newer"})
	}
	for _, move := range moves {
		switch {
		case !selected(in, move):
			return closing(Reason{Rule: RuleGone, Message: "no longer selected by the config: " + targetsText(move)})
		case d.State == Same && !inSources(in, move):
			return closing(Reason{Rule: RuleSame, Message: "no longer in any upstream environment: " + targetsText(move)})
		}
	}
	if why, never := neverProposed(in); never {
		return closing(why)
	}
	return keep(d.Reason)
}

// notFollowed returns the components of a snapshot that the target has no longer.
func notFollowed(in *input, snapshot Snapshot) []string {
	return slices.DeleteFunc(snapshot.Components(), func(component string) bool {
		return slices.ContainsFunc(in.refs, func(ref currentRef) bool { return ref.component == component })
	})
}

// inSources reports whether a version is or was in a source. A registry that does
// not list a version proves nothing, so without sources it counts as present.
func inSources(in *input, move Move) bool {
	if len(in.settings.After) == 0 {
		return true
	}
	return slices.ContainsFunc(in.sources, func(source Target) bool {
		there, found := in.ix.ref(source, move.Component)
		return found && !there.differs(move.To, false) || slices.ContainsFunc(in.obs.Landings[source], func(l Landing) bool {
			pinned, landed := l.Snapshot[move.Component]
			return landed && SameRollout(pinned.Version, move.To)
		})
	})
}
