package input

import (
	"cmp"
	"slices"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// MoveTo returns the move of a component to a version: the version is another one, or the
// files must write it in another form.
func (in *Target) MoveTo(ref Ref, to image.Version) (promotion.Move, bool) {
	if ref.Differs(to, in.Index.Moving(ref.Component)) {
		return ref.Move(to), true
	}
	return in.Rewrite(ref, to)
}

// Rewrite returns the move of a component that has a version already, if its files must write
// it in another form: as pin requires, or by a tag that select prefers. It never leads to a
// version that users rejected. Where promoter never writes, the form is that of another writer.
func (in *Target) Rewrite(ref Ref, same image.Version) (promotion.Move, bool) {
	current, agreed := ref.Agreed()
	if _, never := in.NeverProposed(); never || !agreed || !promotion.SameRollout(current, same) || slices.ContainsFunc(ref.References, func(r *edit.Reference) bool { return r.Fixed }) {
		return promotion.Move{}, false
	}
	to := same
	to.Tag = in.label(ref, same)
	to.Digest = cmp.Or(same.Digest, current.Digest)
	if to.Tag != same.Tag { // it is another tag, with other facts
		to.Version = ""
	}
	form, possible := ref.form(to)
	if form == "" || !possible {
		return promotion.Move{}, false
	}
	at := state.Target(in.Target)
	if _, rejected := in.Obs.State.Rejected(at, ref.Repository, to); rejected || in.Obs.State.RejectedForm(at, ref.Repository, to) {
		return promotion.Move{}, false
	}
	if !slices.ContainsFunc(ref.References, func(r *edit.Reference) bool { return r.Digest != "" }) {
		current.Digest = ""
	}
	return promotion.Move{Component: ref.Component, From: current, To: to, Form: form}, true
}

// label returns the tag by which the files should name a version that they have. It is
// the tag that they have, unless select does not admit it, or it is a prerelease and the
// other one is not: otherwise every new tag of one image would be a change.
func (in *Target) label(ref Ref, same image.Version) string {
	policy, label := in.Obs.Policies[ref.Component], ""
	for _, v := range ref.Versions {
		if policy != nil && !IsMoving(policy) && v.Tag != "" && same.Tag != "" && policy.Admits(same.Tag) &&
			(!policy.Admits(v.Tag) || policy.IsPrerelease(v.Tag) && !policy.IsPrerelease(same.Tag)) {
			return same.Tag
		}
		label = cmp.Or(label, v.Tag)
	}
	return cmp.Or(label, same.Tag)
}

// form returns what changes if the files write a version as they should, and whether all that
// is needed of it is known.
func (r Ref) form(to image.Version) (form promotion.Form, possible bool) {
	possible = true
	for _, reference := range r.References {
		has, wanted := edit.Form{Tag: reference.Tag != "", Digest: reference.Digest != ""}, reference.Form
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

// RewritesForm reports whether a reference to the component has another form than pin requires.
func (r Ref) RewritesForm() bool {
	return slices.ContainsFunc(r.References, func(reference *edit.Reference) bool { return reference.Form != edit.Form{} })
}
