package promotion

import (
	"fmt"

	"promoter/internal/image"
	"promoter/internal/state"
)

// verifyImages requires that the registry still has the versions of the moves, and
// that their tags still point to the same digests. Otherwise something else would
// be written than what ran in the sources. No other version is selected instead.
func verifyImages(in *input, moves []Move, fact func(*input, string, image.Version) Fact) []Condition {
	var conditions []Condition
	for _, move := range moves {
		c := Condition{Name: move.Component + " " + Label(move.To), State: Pending}
		f := fact(in, move.Component, move.To)
		now, known := in.obs.Facts[f]
		switch {
		case !known && in.obs.Checkout:
			continue
		case !known: // an incomplete answer proposes nothing
			c.State, c.Reason = Unknown, "not verified: the registry gave no answer"
		case isMissing(now):
			c.Reason = "image missing: no longer in the registry"
		case f.Digest == "" && move.To.Digest != "" && now.Digest != move.To.Digest:
			c.Reason = fmt.Sprintf("tag moved: it now points to %s instead of %s", ShortDigest(now.Digest), ShortDigest(move.To.Digest)) + acceptMoved(in, move)
		default:
			continue
		}
		conditions = append(conditions, c)
	}
	return conditions
}

// admissions requires that the policies of the components admit the versions that come from
// a parent: users can write any version there. Only a request by name promotes another one,
// and a snapshot that a pipeline posted.
// A checkout does not show with which tag a digest landed.
func admissions(in *input, moves []Move) []Condition {
	var conditions []Condition
	for _, move := range versionMoves(moves) {
		policy := in.obs.Policies[move.Component]
		if policy == nil || in.obs.Checkout && move.To.Tag == "" || wasPosted(in, move) {
			continue
		}
		admitted := policy.Admits(move.To.Tag)
		if fact, needed := releaseFact(in, move.Component, move.To); needed && admitted && !in.obs.Checkout {
			release, known := in.obs.Facts[fact]
			if !known {
				conditions = append(conditions, Condition{
					Name: move.Component + " " + Label(move.To), State: Unknown, Reason: "not verified: the forge did not list its releases",
				})
			}
			admitted = !known || !isMissing(release)
		}
		if admitted {
			continue
		}
		why := "select does not admit this version"
		named := image.Reference{Name: repositoryOf(in, move.Component).Familiar(), Tag: move.To.Tag, Digest: move.To.Digest}
		if move.To.Tag == "" {
			why = "no tag of it is known that select could admit"
			if move.From.Tag != "" {
				named.Tag = "TAG" // the files need one, which the user knows
			}
		}
		conditions = append(conditions, Condition{
			Name: move.Component + " " + Label(move.To), State: Failed,
			Reason: fmt.Sprintf("%s: to promote it anyway, use 'promoter promote --to %s%s --with %s'",
				why, in.target.Environment, in.target.ApplicationFlag(), named),
		})
	}
	return conditions
}

// releaseFact is the lookup that asks whether the tag of a version is a release. It is needed
// if releases are the versions.
func releaseFact(in *input, component string, v image.Version) (Fact, bool) {
	policy := in.obs.Policies[component]
	if policy == nil || v.Tag == "" {
		return Fact{}, false
	}
	source, released := policy.Release()
	return Fact{Repository: repositoryOf(in, component), Tag: v.Tag, Release: source}, released
}

// currentFact is the lookup that verifies a version: where its tag points now. A
// moving tag is expected to move, so for it, and without a tag, only the digest
// counts.
func currentFact(in *input, component string, v image.Version) Fact {
	fact := Fact{Repository: repositoryOf(in, component), Tag: v.Tag}
	if in.ix.moving(component) || v.Tag == "" {
		fact.Digest = v.Digest
	}
	return fact
}

// acceptMoved returns how to accept a moved tag that a user wrote without a digest.
func acceptMoved(in *input, move Move) string {
	repository := repositoryOf(in, move.Component).String()
	for _, source := range in.sources {
		if digest, observed := in.obs.State.ObservedDigest(state.Target(source), repository, move.To.Tag); observed && digest == move.To.Digest {
			return "; to accept it, write its digest or another tag to " + source.Environment
		}
	}
	return ""
}

// signatures requires that the versions that are written are signed as the config and the
// server require. A version whose signatures could not be read is not written either, not even
// by a rollback.
func signatures(in *input, moves []Move) []Condition {
	var conditions []Condition
	for _, move := range moves {
		if len(in.obs.Verify[move.Component]) == 0 {
			continue
		}
		c := Condition{Name: move.Component + " " + Label(move.To) + " signature", State: Pending}
		switch signed, known := signatureOf(in, move); {
		case !known && in.obs.Checkout:
			c.State, c.Reason = Unknown, "not verified: the registry was not asked"
		case !known:
			c.Reason = "not verified: the registry gave no answer"
		case signed.By != "":
			c.State, c.Value = Passed, signed.By
		default:
			if c.Reason = signed.Problem; signed.Wrong {
				c.State = Blocked
			}
		}
		conditions = append(conditions, c)
	}
	return conditions
}

// signatureOf returns what is known about the signatures of the version of a move.
func signatureOf(in *input, move Move) (image.Signature, bool) {
	repository := repositoryOf(in, move.Component)
	known := []image.Version{
		in.obs.Available[move.Component].Version, in.obs.Explicit[in.target][move.Component].Version,
		in.obs.Facts[currentFact(in, move.Component, move.To)], in.obs.Facts[Fact{Repository: repository, Digest: move.To.Digest}],
	}
	for _, v := range known {
		if v.Signature != (image.Signature{}) && (v.Digest == move.To.Digest || move.To.Digest == "" && v.Tag == move.To.Tag) {
			return v.Signature, true
		}
	}
	return image.Signature{}, false
}
