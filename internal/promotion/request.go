package promotion

import (
	"slices"

	"promoter/internal/config"
	"promoter/internal/state"
)

// requestOf returns the request that applies to the target, or the one that is
// done. A request for all applications of an environment applies to each, but
// versions are requested for one target only. A request whose snapshot landed is
// done even if the state still has it: otherwise it would bring its versions back
// when the next snapshot lands.
func requestOf(in *input) (request, fulfilled *state.Request) {
	own := in.obs.State.At(state.Target(in.target)).Request
	if own == nil {
		all := in.obs.State.At(state.Target{Environment: in.target.Environment, Application: state.All}).Request
		if all != nil && len(all.With) == 0 {
			return all, nil
		}
		return nil, nil
	}
	landed := func(l Landing) bool { return l.Snapshot.ID() == own.Snapshot }
	if own.Snapshot != "" && slices.ContainsFunc(in.obs.Landings[in.target], landed) {
		return nil, own
	}
	return own, nil
}

// requestFor returns the request that applies to a snapshot: one that names its
// versions, one that is not bound to a snapshot yet, or one bound to this one.
func requestFor(in *input, snapshot Snapshot) *state.Request {
	r := in.request
	if r == nil || r.Snapshot != "" && len(r.With) == 0 && r.Snapshot != snapshot.ID() {
		return nil
	}
	return r
}

// requestsSnapshot reports whether a user requested one particular snapshot.
func requestsSnapshot(in *input) bool {
	return in.settings.Propose == config.ProposeManual && in.request != nil && in.request.Snapshot != ""
}

// isRequested reports whether the moves lead to the requested snapshot, or none in
// particular is requested.
func isRequested(in *input, moves []Move) bool {
	return !requestsSnapshot(in) || in.request.Snapshot == in.snapshot(moves).ID()
}

// fromRequest decides about a target for which a user requested versions: these
// versions are wanted whatever the sources have, and their order does not count.
//
// The conditions of the parents still apply, to the newest snapshot there that had
// the requested versions. Versions that never were in a parent meet no condition
// except tagged.
func fromRequest(in *input) (Decision, bool) {
	if in.request == nil || len(in.request.With) == 0 {
		return Decision{}, false
	}
	requested := in.obs.Explicit[in.target]
	if len(requested) == 0 {
		return waiting(in, nil, nothingRequested(*in.request)), true
	}
	var moves []Move
	for _, ref := range in.refs {
		available, named := requested[ref.component]
		switch {
		case !named:
		case available.Err != nil:
			return unchanged(in, Unanswered, noAnswer(ref.component, available.Err)), true
		case !available.Found:
			return waiting(in, nil, noVersion(ref.component, available)), true
		case ref.differs(available.Version, in.ix.moving(ref.component)):
			moves = append(moves, ref.move(available.Version))
		}
	}
	if len(moves) == 0 {
		return Decision{}, false
	}
	return propose(in, moves, requestedBy(moves, *in.request), parentConditions(in, moves)), true
}

// namedByUser reports whether a user requested the versions of all moves.
func namedByUser(in *input, moves []Move) bool {
	requested := in.obs.Explicit[in.target]
	return len(requested) > 0 && !slices.ContainsFunc(moves, func(m Move) bool {
		available, named := requested[m.Component]
		return !named || !SameRollout(available.Version, m.To)
	})
}
