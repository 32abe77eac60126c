package decide

import (
	"slices"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/condition"
	"promoter/internal/promotion/input"
)

// fromRegistry decides about a target that takes its versions from registries: the
// new snapshot consists of the newer versions and what the files have of the
// other components.
func fromRegistry(in input.Target) promotion.Decision {
	in = in.For(parts[ofRegistry])
	var moves []promotion.Move
	var kept []promotion.Reason // why components stay as they are
	for _, ref := range in.Refs {
		move, moved, why := fromAvailable(in, ref)
		if moved {
			moves = append(moves, move)
		} else if why.Message != "" {
			kept = append(kept, why)
		}
	}
	if len(moves) == 0 {
		return nothingAvailable(in, kept)
	}

	wanted := moves
	var blocking, shown []promotion.Condition
	if !in.Checkout {
		wanted, blocking, shown = supersede(in, moves)
	}
	blocking = append(blocking, condition.Settle(in, wanted)...)
	if why, differ := condition.VersionsDiffer(in, wanted); differ {
		return waiting(in, wanted, why)
	}
	selected := slices.ContainsFunc(wanted, func(m promotion.Move) bool { return !in.Registry().Available[m.Component].Explicit })
	reason := selectedMoves(wanted, !selected)
	if promotion.OnlyForm(wanted) {
		reason = rewritten(wanted)
	}
	d := propose(in, wanted, reason, blocking)
	d.Conditions = slices.Concat(d.Conditions, shown, heldVersions(in), keptComponents(kept))
	d.Newer = waitsBehind(moves, shown)
	return d
}

// fromAvailable decides about one component: it moves, or stays with a reason, or
// stays because nothing differs. What stays may have to be written in another form.
func fromAvailable(in input.Target, ref input.Ref) (promotion.Move, bool, promotion.Reason) {
	move, moved, why := toAvailable(in, ref)
	available, known := availableTo(in, ref)
	if moved || !known || available.Err != nil || available.Explicit {
		return move, moved, why
	}
	current, _ := ref.Agreed()
	if available.Found && promotion.SameRollout(current, available.Version) {
		move, moved = input.Rewrite(in, ref, available.Version)
	} else if move, moved = input.Rewrite(in, ref, current); moved {
		// No answer about available versions shows that its tag still has this digest.
		moved = !in.Moving(ref.Component) && len(condition.VerifyImages(in, []promotion.Move{move}, in.CurrentFact)) == 0
	}
	if moved {
		return move, true, promotion.Reason{}
	}
	return promotion.Move{}, false, why
}

// availableTo returns what is available of a component, as its files spell versions.
func availableTo(in input.Target, ref input.Ref) (promotion.Available, bool) {
	available, known := in.Registry().Available[ref.Component]
	if !available.Explicit {
		available.Version = ref.Spelled(available)
	}
	return available, known
}

// toAvailable decides whether a component moves to the available version. If users do not
// want that version, it stays; no older version is selected instead, and the others move
// without it.
func toAvailable(in input.Target, ref input.Ref) (promotion.Move, bool, promotion.Reason) {
	available, known := availableTo(in, ref)
	policy := in.Policies[ref.Component]
	switch {
	case !known:
		return promotion.Move{}, false, promotion.Reason{}
	case available.Err != nil:
		return promotion.Move{}, false, noAnswer(ref.Component, available.Err)
	case !available.Found && len(available.Held) > 0 && hasHeldVersion(in, ref, available.Held[0]):
		return promotion.Move{}, false, promotion.Reason{}
	case !available.Found:
		return promotion.Move{}, false, noVersion(ref.Component, available)
	case !ref.Differs(available.Version, needsDigest(available, policy)):
		return promotion.Move{}, false, promotion.Reason{}
	}
	if why := ref.OtherForm(available.Version, policy); why != "" && !available.Explicit {
		return promotion.Move{}, false, otherForm(ref, available.Version, why)
	}
	if ref.OtherScheme(available.Version, policy) && !available.Explicit {
		return promotion.Move{}, false, otherScheme(in, ref, available.Version)
	}
	if current, back := ref.NewerThan(available.Version, policy); back && !available.Explicit {
		// A tag list that ends lower than the current version means that a tag was
		// removed, or the list was incomplete. A moving tag that went back was moved
		// by its publisher, and is shown.
		if input.IsMoving(policy) {
			return promotion.Move{}, false, input.MovedBack(ref.Component, current, available.Version)
		}
		return promotion.Move{}, false, alreadyNewer(ref.Component, current, available.Version)
	}
	if current, posted := postedHere(in, ref); posted && !available.Explicit && !supersedes(available.Version, current, policy) {
		return promotion.Move{}, false, afterPosted(ref.Component, current, available.Version)
	}
	move := ref.Move(available.Version)
	if _, why, decided := input.UserDecisionOn(in, move); decided && !available.Explicit {
		return promotion.Move{}, false, why
	}
	return move, true, promotion.Reason{}
}

// hasHeldVersion reports whether the files already have a version that may not be
// selected yet. A tag without a digest does not identify an image.
func hasHeldVersion(in input.Target, ref input.Ref, held promotion.HeldVersion) bool {
	return held.Version.Digest != "" && !ref.Differs(held.Version, in.Moving(ref.Component))
}

// nothingAvailable is the decision if no component moves. The most important
// reason decides the state.
func nothingAvailable(in input.Target, kept []promotion.Reason) promotion.Decision {
	d := unchanged(in, promotion.Same, promotion.AlreadySame())
	d.Conditions = heldVersions(in)
	highest := 0
	for _, why := range kept {
		state, priority := promotion.Waiting, 2
		switch why.Rule {
		case promotion.RuleRegistry:
			state, priority = promotion.Unanswered, 3
		case promotion.RuleRejected:
			state = promotion.Rejected
		case promotion.RuleReverted:
			state = promotion.Reverted
		case promotion.RuleSame, promotion.RuleLine:
			state, priority = promotion.Same, 1
		}
		if priority > highest {
			highest = priority
			d.State, d.Reason = state, why
		}
	}
	return d
}

// heldVersions are the newer versions that may not be selected yet, except those
// in the files, and the components without any version. They are shown and block
// nothing.
func heldVersions(in input.Target) []promotion.Condition {
	var conditions []promotion.Condition
	for _, ref := range in.Refs {
		available := in.Registry().Available[ref.Component]
		for _, held := range available.Held {
			if !hasHeldVersion(in, ref, held) {
				conditions = append(conditions, held.Condition)
			}
		}
		if available.Note != "" {
			conditions = append(conditions, promotion.Condition{Name: ref.Component, State: promotion.Pending, Reason: available.Note})
		}
		if !available.Found && available.Reason != "" && len(available.Held) == 0 {
			conditions = append(conditions, promotion.Condition{Name: ref.Component, State: promotion.Pending, Reason: available.Reason})
		}
	}
	return conditions
}

// keptComponents shows moving tags that went back, and versions that users do not
// want, beside the components that move.
func keptComponents(kept []promotion.Reason) []promotion.Condition {
	var conditions []promotion.Condition
	for _, why := range kept {
		switch why.Rule {
		case promotion.RuleBackwards:
			conditions = append(conditions, promotion.Condition{Name: "moving tag", State: promotion.Pending, Reason: why.Message})
		case promotion.RuleScheme:
			conditions = append(conditions, promotion.Condition{Name: "scheme of versions", State: promotion.Pending, Reason: why.Message})
		case promotion.RuleLine:
			conditions = append(conditions, promotion.Condition{Name: "line of versions", State: promotion.Pending, Reason: why.Message})
		case promotion.RuleRejected, promotion.RuleReverted:
			conditions = append(conditions, promotion.Condition{Name: string(why.Rule), State: promotion.Pending, Reason: why.Message})
		}
	}
	return conditions
}

// needsDigest reports whether a tag alone is not enough in the files: the tag
// moves, or a user named a digest.
func needsDigest(a promotion.Available, policy *image.Policy) bool {
	if a.Explicit {
		return a.Version.Digest != ""
	}
	return input.IsMoving(policy)
}
