package promotion

import (
	"slices"

	"promoter/internal/image"
)

// fromRegistry decides about a target that takes its versions from registries: the
// new snapshot consists of the newer versions and what the files have of the
// other components.
func fromRegistry(in *input) Decision {
	var moves []Move
	var kept []Reason // why components stay as they are
	for _, ref := range in.refs {
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

	wanted, blocking, shown := moves, []Condition(nil), []Condition(nil)
	if !in.obs.Checkout {
		wanted, blocking, shown = supersede(in, moves)
	}
	blocking = append(blocking, settle(in, wanted)...)
	if why, differ := versionsDiffer(in, wanted); differ {
		return waiting(in, wanted, why)
	}
	newer := slices.ContainsFunc(wanted, func(m Move) bool { return !in.obs.Available[m.Component].Explicit })
	reason := selectedMoves(wanted, !newer)
	if onlyForm(wanted) {
		reason = rewritten(wanted)
	}
	d := propose(in, wanted, reason, blocking)
	d.Conditions = slices.Concat(d.Conditions, shown, heldVersions(in), keptComponents(kept))
	return d
}

// fromAvailable decides about one component: it moves, or stays with a reason, or
// stays because nothing differs. What stays may have to be written in another form.
func fromAvailable(in *input, ref currentRef) (Move, bool, Reason) {
	move, moved, why := toAvailable(in, ref)
	available, known := in.obs.Available[ref.component]
	if moved || !known || available.Err != nil || available.Explicit {
		return move, moved, why
	}
	current, _ := ref.agreed()
	if available.Found && SameRollout(current, available.Version) {
		move, moved = in.rewrite(ref, available.Version)
	} else if move, moved = in.rewrite(ref, current); moved {
		// No answer about available versions shows that its tag still has this digest.
		moved = !in.ix.moving(ref.component) && len(verifyImages(in, []Move{move}, currentFact)) == 0
	}
	if moved {
		return move, true, Reason{}
	}
	return Move{}, false, why
}

// toAvailable decides whether a component moves to the available version. If users do not
// want that version, it stays; no older version is selected instead, and the others move
// without it.
func toAvailable(in *input, ref currentRef) (Move, bool, Reason) {
	available, known := in.obs.Available[ref.component]
	policy := in.obs.Policies[ref.component]
	switch {
	case !known:
		return Move{}, false, Reason{}
	case available.Err != nil:
		return Move{}, false, noAnswer(ref.component, available.Err)
	case !available.Found && len(available.Held) > 0 && hasHeldVersion(in, ref, available.Held[0]):
		return Move{}, false, Reason{}
	case !available.Found:
		return Move{}, false, noVersion(ref.component, available)
	case !ref.differs(available.Version, available.needsDigest(policy)):
		return Move{}, false, Reason{}
	}
	if current, back := ref.newerThan(available.Version, policy); back && !available.Explicit {
		// A tag list that ends lower than the current version means that a tag was
		// removed, or the list was incomplete. A moving tag that went back was moved
		// by its publisher, and is shown.
		if isMoving(policy) {
			return Move{}, false, movedBack(ref.component, current, available.Version)
		}
		return Move{}, false, alreadyNewer(ref.component, current, available.Version)
	}
	if current, posted := postedHere(in, ref); posted && !available.Explicit && !supersedes(available.Version, current, policy) {
		return Move{}, false, afterPosted(ref.component, current, available.Version)
	}
	move := ref.move(available.Version)
	if _, why, decided := userDecisionOn(in, move); decided && !available.Explicit {
		return Move{}, false, why
	}
	return move, true, Reason{}
}

// hasHeldVersion reports whether the files already have a version that may not be
// selected yet. A tag without a digest does not identify an image.
func hasHeldVersion(in *input, ref currentRef, held HeldVersion) bool {
	return held.Version.Digest != "" && !ref.differs(held.Version, in.ix.moving(ref.component))
}

// nothingAvailable is the decision if no component moves. The most important
// reason decides the state.
func nothingAvailable(in *input, kept []Reason) Decision {
	d := unchanged(in, Same, AlreadySame())
	d.Conditions = heldVersions(in)
	highest := 0
	for _, why := range kept {
		state, priority := Waiting, 2
		switch why.Rule {
		case RuleRegistry:
			state, priority = Unanswered, 3
		case RuleRejected:
			state = Rejected
		case RuleReverted:
			state = Reverted
		case RuleSame:
			state, priority = Same, 1
		}
		if priority > highest {
			d.State, d.Reason, highest = state, why, priority
		}
	}
	return d
}

// heldVersions are the newer versions that may not be selected yet, except those
// in the files, and the components without any version. They are shown and block
// nothing.
func heldVersions(in *input) []Condition {
	var conditions []Condition
	for _, ref := range in.refs {
		available := in.obs.Available[ref.component]
		for _, held := range available.Held {
			if !hasHeldVersion(in, ref, held) {
				conditions = append(conditions, held.Condition)
			}
		}
		if !available.Found && available.Reason != "" && len(available.Held) == 0 {
			conditions = append(conditions, Condition{Name: ref.component, State: Pending, Reason: available.Reason})
		}
	}
	return conditions
}

// keptComponents shows moving tags that went back, and versions that users do not
// want, beside the components that move.
func keptComponents(kept []Reason) []Condition {
	var conditions []Condition
	for _, why := range kept {
		switch why.Rule {
		case RuleBackwards:
			conditions = append(conditions, Condition{Name: "moving tag", State: Pending, Reason: why.Message})
		case RuleRejected, RuleReverted:
			conditions = append(conditions, Condition{Name: string(why.Rule), State: Pending, Reason: why.Message})
		}
	}
	return conditions
}

// needsDigest reports whether a tag alone is not enough in the files: the tag
// moves, or a user named a digest.
func (a Available) needsDigest(policy *image.Policy) bool {
	if a.Explicit {
		return a.Version.Digest != ""
	}
	return isMoving(policy)
}
