package decide

import (
	"slices"
	"time"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/condition"
	"promoter/internal/promotion/input"
	"promoter/internal/state"
)

// fromRollback decides about a target that a user rolled back: exactly the images
// of the rollback are wanted. Conditions and order do not apply, gates do. Once
// the files have the images, the hold that the rollback set keeps newer versions
// out. A rollback by promoter itself sets no hold: it replaces only what failed, and ends when
// a user refuses to have the versions of before. A bot that closed its pull request twice blocks it until a user acts.
func fromRollback(in input.Target) (promotion.Decision, bool) {
	in = in.For(parts[ofRollback])
	back := in.Record().Rollback
	if back == nil {
		return promotion.Decision{}, false
	}
	in = in.Returning(back)
	var moves []promotion.Move
	var blocked promotion.Reason // by a bot
	for _, ref := range in.Refs {
		text, named := back.Images[ref.Component]
		if !named {
			continue
		}
		to, valid := rollbackVersion(in, ref, text)
		if !valid {
			return waiting(in, nil, rollbackInvalid(ref.Component, text)), true
		}
		if !ref.Differs(to, in.Moving(ref.Component)) {
			continue
		}
		move := ref.Move(to)
		rejection, refused := in.State().Rejected(state.Target(in.Target), ref.Repository, move.To)
		since := back.At.Truncate(time.Second) // forges report whole seconds
		if block, scope, is := in.State().BlockedSince(state.Target(in.Target), ref.Repository, move.To, since); is {
			blocked = promotion.Reason{
				Rule: promotion.RuleRejected, Scope: scope,
				Message: input.RejectedText(in.State(), in.Target, move, block),
			}
		}
		if back.Automatic {
			if refused && !rejection.Blocked {
				return promotion.Decision{}, false
			}
			if _, failed := in.State().Rejected(state.Target(in.Target), ref.Repository, move.From); !failed {
				continue
			}
			if _, left := input.LeftUpstream(in, move); left {
				return promotion.Decision{}, false
			}
		} else if why, left := input.LeftUpstream(in, move); left { // that rollback is later than this one
			return waiting(in, nil, why), true
		}
		if !landedHere(in, ref, text) {
			return waiting(in, nil, rollbackNeverHere(ref.Component, text)), true
		}
		moves = append(moves, move)
	}
	if len(moves) == 0 {
		return promotion.Decision{}, false
	}

	// Earlier user decisions, such as a rejection of these versions, do not count,
	// and a registry that does not answer is no reason to keep what users want out.
	fact := func(component string, v image.Version) promotion.Fact { return rollbackFact(in, component, v) }
	conditions := slices.Concat(condition.VerifyImages(in, moves, fact), condition.Signatures(in, moves), condition.Mirrored(in, moves))
	d := draft(in, moves, rolledBack(moves, *back), conditions)
	d.Requested = &back.Act
	if blocking, fails := promotion.FirstBlocking(d.Conditions, true); fails {
		d.State, d.Reason = promotion.Waiting, promotion.BlockedBy(blocking)
	}
	if blocked.Message != "" {
		d.State, d.Reason = promotion.Waiting, blocked
	}
	if why, never := input.NeverProposed(in.Settings); never {
		d.State, d.Reason = promotion.Waiting, why
	}
	return refuse(in, d), true
}

// rollbackVersion parses the image that a rollback names for a component.
func rollbackVersion(in input.Target, ref input.Ref, text string) (image.Version, bool) {
	to, err := image.Parse(text)
	if err != nil || to.Repository != ref.Repository {
		return image.Version{}, false
	}
	return in.Registry().Facts.Describe(ref.Repository, to.Version()), true
}

// landedHere reports whether the image that a rollback names was in the target,
// according to the history of its branch. Only then conditions do not apply:
// otherwise every user who can push the state branch could bypass them. Files may
// prove the tag alone.
func landedHere(in input.Target, ref input.Ref, text string) bool {
	wanted, err := image.Parse(text)
	if err != nil {
		return false
	}
	if pinned, found := in.History().Restored(ref.Component); found && pinned.Repository == ref.Repository {
		sameTag := pinned.Version.Digest == "" && wanted.Tag != "" && pinned.Version.Tag == wanted.Tag
		if sameTag || promotion.SameRollout(pinned.Version, wanted.Version()) {
			return true
		}
	}
	return digestLandedHere(in, ref, wanted)
}

func digestLandedHere(in input.Target, ref input.Ref, wanted image.Reference) bool {
	for l := range in.History().Landings(in.Target) {
		pinned, found := l.Snapshot[ref.Component]
		if !found || pinned.Repository != ref.Repository {
			continue
		}
		sameTag := wanted.Digest == "" && wanted.Tag != "" && pinned.Version.Tag == wanted.Tag
		if sameTag || wanted.Digest != "" && pinned.Version.Digest == wanted.Digest {
			return true
		}
	}
	return false
}

// rollbackFact is the lookup that verifies an image of a rollback. If the files
// have digests, its tag may have moved: the digest is restored, unless the history of the
// branch has only the tag.
func rollbackFact(in input.Target, component string, v image.Version) promotion.Fact {
	byTag := slices.ContainsFunc(in.Current.References, func(r edit.Reference) bool {
		return r.Component == component && r.Digest == ""
	})
	ref, _ := in.RefOf(component)
	restored, found := in.History().Restored(component)
	onlyTag := found && restored.Version.Digest == "" &&
		!digestLandedHere(in, ref, image.Reference{Repository: ref.Repository, Tag: v.Tag, Digest: v.Digest})
	if byTag || v.Digest == "" || onlyTag {
		return in.CurrentFact(component, v)
	}
	return promotion.Fact{Repository: in.RepositoryOf(component), Digest: v.Digest}
}
