package decide

import (
	"cmp"
	"slices"
	"strings"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/condition"
	"promoter/internal/promotion/input"
	"promoter/internal/state"
)

// fromRequest decides about a target for which a user requested versions: these
// versions are wanted whatever the sources have, and their order does not count.
//
// The conditions of the parents still apply, to the newest snapshot there that had
// the requested versions. Versions that never were in a parent meet no condition
// except tagged.
//
// A snapshot that a pipeline posted is no decision of a user: it never moves a component
// back. One whose versions are all older than what is there has nothing left to do.
func fromRequest(in input.Target) (promotion.Decision, bool) {
	if in.Request == nil || len(in.Request.With) == 0 {
		return promotion.Decision{}, false
	}
	in = in.For(parts[ofRequest])
	requested := in.Registry().Explicit
	if len(requested) == 0 {
		return waiting(in, nil, nothingRequested(*in.Request)), true
	}
	var moves []promotion.Move
	for _, ref := range in.Refs {
		available, named := requested[ref.Component]
		switch {
		case !named:
		case available.Err != nil:
			return unchanged(in, promotion.Unanswered, noAnswer(ref.Component, available.Err)), true
		case !available.Found:
			return waiting(in, nil, noVersion(ref.Component, available)), true
		case ref.Differs(available.Version, in.Moving(ref.Component)):
			moves = append(moves, ref.Move(available.Version))
		}
	}
	if len(moves) == 0 {
		return promotion.Decision{}, false
	}
	conditions := condition.OfParents(in, moves)
	if in.Request.Posted != "" {
		why, back := postedBack(in, moves)
		switch {
		case back == len(moves):
			return promotion.Decision{}, false
		case back > 0:
			return waiting(in, moves, why), true
		}
		conditions = append(condition.VerifyImages(in, moves, in.CurrentFact), conditions...)
	}
	reason := requestedBy(moves, *in.Request)
	reason.Message = promotion.Appended(reason.Message, behind(in, moves))
	return propose(in, moves, reason, conditions), true
}

// postedBack returns how many moves of a posted snapshot lead back, and the reason of the
// first one: to an older version, or to one that was there before. Where neither the policy
// nor the creation dates give an order, the pipeline's order counts.
func postedBack(in input.Target, moves []promotion.Move) (why promotion.Reason, back int) {
	for _, ref := range in.Refs {
		move, moved := promotion.MoveOf(moves, ref.Component)
		if !moved {
			continue
		}
		current := move.From
		older := input.LandedBefore(in, move)
		newer := func(v image.Version) bool { return supersedes(v, move.To, in.Policies[ref.Component]) }
		if i := slices.IndexFunc(ref.Versions, newer); i >= 0 {
			current, older = ref.Versions[i], true
		}
		if older {
			back++
			if back == 1 {
				why = backwards(ref.Component, current, move.To)
			}
		}
	}
	return why, back
}

// supersedes reports whether a is known to be newer than b, by the policy, or by the creation
// dates if the policy does not order them.
func supersedes(a, b image.Version, policy *image.Policy) bool {
	if promotion.SameRollout(a, b) {
		return false
	}
	if policy != nil {
		if order, known := input.Compare(a, b, policy); known {
			return order > 0
		}
	}
	return image.KnownCreated(a.Created) && image.KnownCreated(b.Created) && a.Created.After(b.Created)
}

// postedHere returns the version of a component in the target if a pipeline posted it. No
// policy selected it, so the policy may not order it.
func postedHere(in input.Target, ref input.Ref) (image.Version, bool) {
	current, agreed := ref.Agreed()
	current.Digest = cmp.Or(current.Digest, ref.Recorded.Digest)
	return current, agreed && in.State().WasPosted(state.Target(in.Target), ref.Component, current.Digest)
}

// behind names the environments upstream that have an older version than the moves, which
// promoter would not promote over a newer one.
func behind(in input.Target, moves []promotion.Move) string {
	var texts []string
	for _, ancestor := range in.Config.Ancestors(in.Target.Environment) {
		for _, move := range moves {
			ref, found := in.Others().Ref(promotion.Target{Environment: ancestor, Application: in.Target.Application}, move.Component)
			to := input.Ref{Component: move.Component, Repository: ref.Repository, Versions: []image.Version{move.To}}
			if !found {
				continue
			}
			if current, agreed := ref.Agreed(); agreed {
				if _, older := to.NewerThan(current, in.Policies[move.Component]); older {
					texts = append(texts, ancestor+" has "+move.Component+" "+promotion.Label(current))
				}
			}
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return "behind: " + strings.Join(texts, ", ")
}
