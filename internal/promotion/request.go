package promotion

import (
	"cmp"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/image"
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
//
// A snapshot that a pipeline posted is no decision of a user: it never moves a component
// back. One whose versions are all older than what is there has nothing left to do.
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
	conditions := parentConditions(in, moves)
	if in.request.Posted != "" {
		why, back := postedBack(in, moves)
		switch {
		case back == len(moves):
			return Decision{}, false
		case back > 0:
			return waiting(in, moves, why), true
		}
		conditions = append(verifyImages(in, moves, currentFact), conditions...)
	}
	reason := requestedBy(moves, *in.request)
	reason.Message = appended(reason.Message, behind(in, moves))
	return propose(in, moves, reason, conditions), true
}

// postedBack returns how many moves of a posted snapshot lead back, and the reason of the
// first one: to an older version, or to one that was there before. Where neither the policy
// nor the creation dates give an order, the pipeline's order counts.
func postedBack(in *input, moves []Move) (why Reason, back int) {
	for _, ref := range in.refs {
		move, moved := MoveOf(moves, ref.component)
		if !moved {
			continue
		}
		current, older := find(ref.versions, func(current image.Version) bool { return supersedes(current, move.To, in.obs.Policies[ref.component]) })
		if !older && landedBefore(in, move) {
			current, older = move.From, true
		}
		if older {
			if back++; back == 1 {
				why = backwards(ref.component, current, move.To)
			}
		}
	}
	return why, back
}

// supersedes reports whether a is known to be newer than b, by the policy, or by the creation
// dates if the policy does not order them.
func supersedes(a, b image.Version, policy *image.Policy) bool {
	if SameRollout(a, b) {
		return false
	}
	if policy != nil {
		if order, known := compare(a, b, policy); known {
			return order > 0
		}
	}
	return image.KnownCreated(a.Created) && image.KnownCreated(b.Created) && a.Created.After(b.Created)
}

// postedHere returns the version of a component in the target if a pipeline posted it. No
// policy selected it, so the policy may not order it.
func postedHere(in *input, ref currentRef) (image.Version, bool) {
	current, agreed := ref.agreed()
	current.Digest = cmp.Or(current.Digest, ref.recorded.Digest)
	return current, agreed && in.obs.State.WasPosted(state.Target(in.target), ref.component, current.Digest)
}

// wasPosted reports whether a pipeline posted a version for any environment of the
// application.
func wasPosted(in *input, move Move) bool {
	return slices.ContainsFunc(in.obs.Config.Environments, func(e config.Environment) bool {
		at := state.Target{Environment: e.Name, Application: in.target.Application}
		return in.obs.State.WasPosted(at, move.Component, move.To.Digest)
	})
}

// behind names the environments upstream that have an older version than the moves, which
// promoter would not promote over a newer one.
func behind(in *input, moves []Move) string {
	var texts []string
	for _, ancestor := range in.obs.Config.Ancestors(in.target.Environment) {
		for _, move := range moves {
			ref, found := in.ix.ref(Target{ancestor, in.target.Application}, move.Component)
			to := currentRef{component: move.Component, repository: ref.repository, versions: []image.Version{move.To}}
			if !found {
				continue
			}
			if current, agreed := ref.agreed(); agreed {
				if _, older := to.newerThan(current, in.obs.Policies[move.Component]); older {
					texts = append(texts, ancestor+" has "+move.Component+" "+Label(current))
				}
			}
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return "behind: " + strings.Join(texts, ", ")
}

// bypass passes a condition that blocks the moves if their request bypasses it, with the
// permission. Without it, the condition has the reason.
func (in *input) bypass(c *Condition, key string, moves []Move) {
	if c.State == Passed || len(moves) == 0 || in.obs.Checkout {
		return
	}
	r := requestFor(in, in.snapshot(moves))
	if r == nil || !slices.Contains(r.Bypass, key) {
		return
	}
	permitted, known := in.obs.Bypasses[in.target]
	refused := permitted.Refused[key]
	if !known || !permitted.At.Equal(r.At) || !permitted.By.Same(r.By) {
		refused = "it was not checked"
	}
	if refused != "" {
		c.Reason = appended(c.Reason, "not bypassed by "+actor(r.Act)+": "+refused)
		return
	}
	c.State, c.Until, c.Bypassed = Passed, nil, true
	c.Reason = appended("bypassed by "+actor(r.Act)+because(r.Act), c.Reason)
}

func appended(text, more string) string {
	if text == "" || more == "" {
		return text + more
	}
	return text + "; " + more
}

// namedByUser reports whether a user requested the versions of all moves.
func namedByUser(in *input, moves []Move) bool {
	requested := in.obs.Explicit[in.target]
	return len(requested) > 0 && !slices.ContainsFunc(moves, func(m Move) bool {
		available, named := requested[m.Component]
		return !named || !SameRollout(available.Version, m.To)
	})
}
