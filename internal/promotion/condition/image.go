package condition

import (
	"fmt"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/state"
)

// VerifyImages requires that the registry still has the versions of the moves, and
// that their tags still point to the same digests. Otherwise something else would
// be written than what ran in the sources. No other version is selected instead.
func VerifyImages(
	in input.Target, moves []promotion.Move, fact func(component string, v image.Version) promotion.Fact,
) []promotion.Condition {
	in = in.For(otherConditions[ofImage])
	facts := in.Registry().Facts
	var conditions []promotion.Condition
	for _, move := range moves {
		c := promotion.Condition{Name: move.Component + " " + promotion.Label(move.To), State: promotion.Pending}
		f := fact(move.Component, move.To)
		now, known := facts[f]
		switch {
		case !known && in.Checkout:
			continue
		case !known: // an incomplete answer proposes nothing
			c.State, c.Reason = promotion.Unknown, "not verified: the registry gave no answer"
		case promotion.IsMissing(now):
			c.Reason = "image missing: no longer in the registry"
		case f.Digest == "" && move.To.Digest != "" && now.Digest != move.To.Digest:
			c.Reason = fmt.Sprintf("tag moved: it now points to %s instead of %s",
				promotion.ShortDigest(now.Digest), promotion.ShortDigest(move.To.Digest)) + acceptMoved(in, move)
		default:
			continue
		}
		conditions = append(conditions, c)
	}
	return conditions
}

// Admissions requires that the policies of the components admit the versions that come from
// a parent: users can write any version there. Only a request by name promotes another one,
// and a snapshot that a pipeline posted.
// A checkout does not show with which tag a digest landed.
func Admissions(in input.Target, moves []promotion.Move) []promotion.Condition {
	in = in.For(otherConditions[ofAdmission])
	var conditions []promotion.Condition
	for _, move := range promotion.VersionMoves(moves) {
		policy := in.Policies[move.Component]
		if policy == nil || in.Checkout && move.To.Tag == "" || input.WasPosted(in, move) {
			continue
		}
		admitted := policy.Admits(move.To.Tag)
		fact, needed := input.ReleaseFact(in.RepositoryOf(move.Component), policy, move.To)
		if needed && admitted && !in.Checkout {
			release, known := in.Registry().Facts[fact]
			if !known {
				conditions = append(conditions, promotion.Condition{
					Name: move.Component + " " + promotion.Label(move.To), State: promotion.Unknown,
					Reason: "not verified: the forge did not list its releases",
				})
			}
			admitted = !known || !promotion.IsMissing(release)
		}
		if admitted {
			continue
		}
		why := "select does not admit this version"
		named := image.Reference{Name: in.RepositoryOf(move.Component).Familiar(), Tag: move.To.Tag, Digest: move.To.Digest}
		if move.To.Tag == "" {
			why = "no tag of it is known that select could admit"
			if move.From.Tag != "" {
				named.Tag = "TAG" // the files need one, which the user knows
			}
		}
		conditions = append(conditions, promotion.Condition{
			Name: move.Component + " " + promotion.Label(move.To), State: promotion.Failed,
			Reason: fmt.Sprintf("%s: to promote it anyway, use 'promoter promote --to %s%s --with %s'",
				why, in.Target.Environment, in.Target.ApplicationFlag(), named),
		})
	}
	return conditions
}

// acceptMoved returns how to accept a moved tag that a user wrote without a digest.
func acceptMoved(in input.Target, move promotion.Move) string {
	repository := in.RepositoryOf(move.Component).String()
	for _, source := range in.Sources {
		digest, observed := in.State().ObservedDigest(state.Target(source), repository, move.To.Tag)
		if observed && digest == move.To.Digest {
			return "; to accept it, write its digest or another tag to " + source.Environment
		}
	}
	return ""
}

// Signatures requires that the versions that are written are signed as the config and the
// server require. A version whose signatures could not be read is not written either, not even
// by a rollback.
func Signatures(in input.Target, moves []promotion.Move) []promotion.Condition {
	var conditions []promotion.Condition
	for _, move := range moves {
		if len(in.Verify[move.Component]) == 0 {
			continue
		}
		c := promotion.Condition{Name: move.Component + " " + promotion.Label(move.To) + " signature", State: promotion.Pending}
		signed, known := signatureOf(in, move)
		switch {
		case !known && in.Checkout:
			c.State, c.Reason = promotion.Unknown, "not verified: the registry was not asked"
		case !known:
			c.Reason = "not verified: the registry gave no answer"
		case signed.By != "":
			c.State, c.Value = promotion.Passed, signed.By
		case signed.Wrong:
			c.State, c.Reason = promotion.Blocked, signed.Problem
		default:
			c.Reason = signed.Problem
		}
		conditions = append(conditions, c)
	}
	return conditions
}

// signatureOf returns what is known about the signatures of the version of a move.
func signatureOf(in input.Target, move promotion.Move) (image.Signature, bool) {
	answers := in.For(otherConditions[ofSignature]).Registry()
	known := [...]image.Version{
		answers.Available[move.Component].Version,
		answers.Explicit[move.Component].Version,
		answers.Facts[in.CurrentFact(move.Component, move.To)],
		answers.Facts[promotion.Fact{Repository: in.RepositoryOf(move.Component), Digest: move.To.Digest}],
	}
	for _, v := range known {
		if v.Signature != (image.Signature{}) && (v.Digest == move.To.Digest || move.To.Digest == "" && v.Tag == move.To.Tag) {
			return v.Signature, true
		}
	}
	return image.Signature{}, false
}
