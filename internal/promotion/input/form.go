package input

import (
	"cmp"
	"slices"
	"strings"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// MoveTo returns the move of a component to a version: the version is another one, or the
// files must write it in another form.
func MoveTo(in Target, ref Ref, to image.Version) (promotion.Move, bool) {
	if ref.Differs(to, in.Moving(ref.Component)) {
		return ref.Move(to), true
	}
	return Rewrite(in, ref, to)
}

// MovesTo returns the moves from the files to a snapshot, without those that would
// lead to an older version.
func MovesTo(in Target, snapshot promotion.Snapshot) []promotion.Move {
	var found []promotion.Move
	for _, ref := range in.Refs {
		pinned := snapshot[ref.Component]
		if pinned.Repository != ref.Repository { // or the snapshot does not have it
			continue
		}
		to := in.obs.Facts.Describe(pinned.Repository, pinned.Version)
		if _, back := ref.NewerThan(to, in.Policies[ref.Component]); back {
			continue
		}
		if move, moves := MoveTo(in, ref, to); moves {
			found = append(found, move)
		}
	}
	return found
}

// Rewrite returns the move of a component that has a version already, if its files must write
// it in another form: as pin requires, or by a tag that select prefers. It never leads to a
// version that users rejected. Where promoter never writes, the form is that of another writer.
func Rewrite(in Target, ref Ref, same image.Version) (promotion.Move, bool) {
	if _, never := NeverProposed(in.Settings); never {
		return promotion.Move{}, false
	}
	move, rewrites := ref.rewrite(same, in.Policies[ref.Component])
	if !rewrites {
		return promotion.Move{}, false
	}
	at, users := state.Target(in.Target), in.For(rows[ofUserDecision]).State()
	if _, rejected := users.Rejected(at, ref.Repository, move.To); rejected || users.RejectedForm(at, ref.Repository, move.To) {
		return promotion.Move{}, false
	}
	return move, true
}

// rewrite returns the move to the form that a version should have. Where references disagree, or
// one is fixed, there is no such form: writing the others would split the component.
func (r Ref) rewrite(same image.Version, policy *image.Policy) (promotion.Move, bool) {
	current, agreed := r.Agreed()
	fixed := func(reference *edit.Reference) bool { return reference.Fixed }
	if !agreed || !promotion.SameRollout(current, same) || slices.ContainsFunc(r.References, fixed) {
		return promotion.Move{}, false
	}
	to := same
	to.Tag = r.label(same, policy)
	to.Digest = cmp.Or(same.Digest, current.Digest)
	if to.Tag != same.Tag { // it is another tag, with other facts
		to.Version = ""
	}
	form, possible := r.form(to)
	if form == "" && r.derivesOther(to, policy) {
		form = promotion.FormDerived
	}
	if form == "" || !possible {
		return promotion.Move{}, false
	}
	pinned := func(reference *edit.Reference) bool { return reference.Digest != "" }
	if !slices.ContainsFunc(r.References, pinned) {
		current.Digest = ""
	}
	return promotion.Move{Component: r.Component, From: current, To: to, Form: form}, true
}

// label returns the tag by which the files should name a version that they have. It is
// the tag that they have, unless select does not admit it, or it is a prerelease and the
// other one is not: otherwise every new tag of one image would be a change.
func (r Ref) label(same image.Version, policy *image.Policy) string {
	label := ""
	for _, v := range r.Versions {
		if prefers(policy, same.Tag, v.Tag) {
			return same.Tag
		}
		label = cmp.Or(label, v.Tag)
	}
	return cmp.Or(label, same.Tag)
}

// prefers reports whether a policy prefers a tag to another one of the same image. A moving tag
// is the only one that its policy selects.
func prefers(policy *image.Policy, tag, other string) bool {
	if policy == nil || IsMoving(policy) || other == "" || !policy.Admits(tag) {
		return false
	}
	return !policy.Admits(other) || policy.IsPrerelease(other) && !policy.IsPrerelease(tag)
}

// form returns what changes if the files write a version as they should, and whether all that
// is needed of it is known.
func (r Ref) form(to image.Version) (form promotion.Form, possible bool) {
	possible = true
	for _, reference := range r.References {
		has := edit.Form{Tag: reference.Tag != "", Digest: reference.Digest != ""}
		wanted := reference.Form
		if wanted == (edit.Form{}) {
			wanted = has
		}
		possible = possible && (!wanted.Tag || to.Tag != "") && (!wanted.Digest || to.Digest != "")
		switch {
		case has.Tag && wanted.Tag && reference.Tag != to.Tag:
			form = promotion.FormRelabeled
		case form != "":
		case wanted.Digest && !has.Digest:
			form = promotion.FormPinned
		case !wanted.Digest && has.Digest:
			form = promotion.FormUnpinned
		case wanted.Tag && !has.Tag:
			form = promotion.FormTagged
		case !wanted.Tag && has.Tag:
			form = promotion.FormUntagged
		}
	}
	return form, possible
}

// derivesOther reports whether a derived place has another text than what is written there for a version, as
// far as that is known.
func (r Ref) derivesOther(v image.Version, policy *image.Policy) bool {
	v = policy.Named(v)
	return slices.ContainsFunc(r.Derived, func(place *edit.Reference) bool {
		text, known := place.Derive(v)
		return known && text != place.Text && !place.Fixed
	})
}

// NeedsMetadata reports whether files of the component need more of a version than its tag and its digest.
func (r Ref) NeedsMetadata(policy *image.Policy) bool {
	return slices.ContainsFunc(r.Derived, func(place *edit.Reference) bool {
		return strings.Contains(place.Template, "{revision}") || IsMoving(policy) && strings.Contains(place.Template, "{version}")
	})
}

// RewritesForm reports whether a reference to the component has another form than pin requires.
func (r Ref) RewritesForm() bool {
	return slices.ContainsFunc(r.References, func(reference *edit.Reference) bool { return reference.Form != edit.Form{} })
}
