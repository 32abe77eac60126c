package promotion

import (
	"slices"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/state"
)

// fromRollback decides about a target that a user rolled back: exactly the images
// of the rollback are wanted. Conditions and order do not apply, gates do. Once
// the files have the images, the hold that the rollback set keeps newer versions
// out. A rollback by promoter itself sets no hold: it replaces only what failed, and ends when
// a user refuses to have the versions of before.
func fromRollback(in *input) (Decision, bool) {
	back := in.obs.State.At(state.Target(in.target)).Rollback
	if back == nil {
		return Decision{}, false
	}
	var moves []Move
	for _, ref := range in.refs {
		text, named := back.Images[ref.component]
		if !named {
			continue
		}
		to, valid := rollbackVersion(in, ref, text)
		if !valid {
			return waiting(in, nil, rollbackInvalid(ref.component, text)), true
		}
		if !ref.differs(to, in.ix.moving(ref.component)) {
			continue
		}
		move := ref.move(to)
		if back.Automatic {
			if _, refused := in.obs.State.Rejected(state.Target(in.target), ref.repository, move.To); refused {
				return Decision{}, false
			}
			if _, failed := in.obs.State.Rejected(state.Target(in.target), ref.repository, move.From); !failed {
				continue
			}
		}
		if !landedHere(in, ref, text) {
			return waiting(in, nil, rollbackNeverHere(ref.component, text)), true
		}
		moves = append(moves, move)
	}
	if len(moves) == 0 {
		return Decision{}, false
	}

	// Earlier user decisions, such as a rejection of these versions, do not count,
	// and a registry that does not answer is no reason to keep what users want out.
	d := draft(in, moves, rolledBack(moves, *back), slices.Concat(verifyImages(in, moves, rollbackFact), signatures(in, moves), mirrored(in, moves)))
	d.Requested = &back.Act
	if blocking, blocked := FirstBlocking(d.Conditions, true); blocked {
		d.State, d.Reason = Waiting, BlockedBy(blocking)
	}
	if why, never := neverProposed(in); never {
		d.State, d.Reason = Waiting, why
	}
	return refuse(in, d), true
}

// rollbackVersion parses the image that a rollback names for a component.
func rollbackVersion(in *input, ref currentRef, text string) (image.Version, bool) {
	to, err := image.Parse(text)
	if err != nil || to.Repository != ref.repository {
		return image.Version{}, false
	}
	return in.obs.Facts.describe(ref.repository, image.Version{Tag: to.Tag, Digest: to.Digest}), true
}

// landedHere reports whether the image that a rollback names was in the target,
// according to the history of its branch. Only then conditions do not apply:
// otherwise every user who can push the state branch could bypass them. Files may
// prove the tag alone.
func landedHere(in *input, ref currentRef, text string) bool {
	wanted, err := image.Parse(text)
	if err != nil {
		return false
	}
	if pinned, found := in.obs.Restored[in.target][ref.component]; found && pinned.Repository == ref.repository {
		if pinned.Version.Digest == "" && wanted.Tag != "" && pinned.Version.Tag == wanted.Tag || SameRollout(pinned.Version, image.Version{Tag: wanted.Tag, Digest: wanted.Digest}) {
			return true
		}
	}
	return digestLandedHere(in, ref, wanted)
}

func digestLandedHere(in *input, ref currentRef, wanted image.Reference) bool {
	return slices.ContainsFunc(in.obs.Landings[in.target], func(l Landing) bool {
		pinned, found := l.Snapshot[ref.component]
		if !found || pinned.Repository != ref.repository {
			return false
		}
		if wanted.Digest != "" {
			return pinned.Version.Digest == wanted.Digest
		}
		return wanted.Tag != "" && pinned.Version.Tag == wanted.Tag
	})
}

// rollbackFact is the lookup that verifies an image of a rollback. If the files
// have digests, its tag may have moved: the digest is restored, unless the history of the
// branch has only the tag.
func rollbackFact(in *input, component string, v image.Version) Fact {
	byTag := slices.ContainsFunc(in.current.References, func(r edit.Reference) bool {
		return r.Component == component && r.Digest == ""
	})
	ref, _ := in.ix.ref(in.target, component)
	restored, found := in.obs.Restored[in.target][component]
	onlyTag := found && restored.Version.Digest == "" &&
		!digestLandedHere(in, ref, image.Reference{Repository: ref.repository, Tag: v.Tag, Digest: v.Digest})
	if byTag || v.Digest == "" || onlyTag {
		return currentFact(in, component, v)
	}
	return Fact{Repository: repositoryOf(in, component), Digest: v.Digest}
}
