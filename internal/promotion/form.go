package promotion

import (
	"cmp"
	"slices"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/state"
)

// Form is what a move changes that leads to the version that is there: only how the files
// write it. It is the same rollout, so it counts as the same version for all conditions.
type Form string

// The forms. Of several, the first one that applies is used.
const (
	FormRelabeled Form = "relabeled" // another tag of the same digest
	FormPinned    Form = "pinned"    // the digest is added
	FormUnpinned  Form = "unpinned"  // the digest is removed
	FormTagged    Form = "tagged"    // the tag is added
	FormUntagged  Form = "untagged"  // the tag is removed
)

// onlyForm reports whether no move changes a version.
func onlyForm(moves []Move) bool { return len(versionMoves(moves)) == 0 }

// versionMoves returns the moves that change a version.
func versionMoves(moves []Move) []Move {
	return slices.DeleteFunc(slices.Clone(moves), func(m Move) bool { return m.Form != "" })
}

// moveTo returns the move of a component to a version: the version is another one, or the
// files must write it in another form.
func (in *input) moveTo(ref currentRef, to image.Version) (Move, bool) {
	if ref.differs(to, in.ix.moving(ref.component)) {
		return ref.move(to), true
	}
	return in.rewrite(ref, to)
}

// rewrite returns the move of a component that has a version already, if its files must write
// it in another form: as pin requires, or by a tag that select prefers. It never leads to a
// version that users rejected. Where promoter never writes, the form is that of another writer.
func (in *input) rewrite(ref currentRef, same image.Version) (Move, bool) {
	current, agreed := ref.agreed()
	if _, never := neverProposed(in); never || !agreed || !SameRollout(current, same) || slices.ContainsFunc(ref.references, func(r *edit.Reference) bool { return r.Fixed }) {
		return Move{}, false
	}
	to := same
	to.Tag = in.label(ref, same)
	to.Digest = cmp.Or(same.Digest, current.Digest)
	if to.Tag != same.Tag { // it is another tag, with other facts
		to.Version = ""
	}
	form, possible := ref.form(to)
	if form == "" || !possible {
		return Move{}, false
	}
	at := state.Target(in.target)
	if _, rejected := in.obs.State.Rejected(at, ref.repository, to); rejected || in.obs.State.RejectedForm(at, ref.repository, to) {
		return Move{}, false
	}
	if !slices.ContainsFunc(ref.references, func(r *edit.Reference) bool { return r.Digest != "" }) {
		current.Digest = ""
	}
	return Move{Component: ref.component, From: current, To: to, Form: form}, true
}

// label returns the tag by which the files should name a version that they have. It is
// the tag that they have, unless select does not admit it, or it is a prerelease and the
// other one is not: otherwise every new tag of one image would be a change.
func (in *input) label(ref currentRef, same image.Version) string {
	policy, label := in.obs.Policies[ref.component], ""
	for _, v := range ref.versions {
		if policy != nil && !isMoving(policy) && v.Tag != "" && same.Tag != "" && policy.Admits(same.Tag) &&
			(!policy.Admits(v.Tag) || policy.IsPrerelease(v.Tag) && !policy.IsPrerelease(same.Tag)) {
			return same.Tag
		}
		label = cmp.Or(label, v.Tag)
	}
	return cmp.Or(label, same.Tag)
}

// form returns what changes if the files write a version as they should, and whether all that
// is needed of it is known.
func (r currentRef) form(to image.Version) (form Form, possible bool) {
	possible = true
	for _, reference := range r.references {
		has, wanted := edit.Form{Tag: reference.Tag != "", Digest: reference.Digest != ""}, reference.Form
		if wanted == (edit.Form{}) {
			wanted = has
		}
		possible = possible && (!wanted.Tag || to.Tag != "") && (!wanted.Digest || to.Digest != "")
		switch {
		case has.Tag && wanted.Tag && reference.Tag != to.Tag:
			form = FormRelabeled
		case form != "":
		case wanted.Digest && !has.Digest:
			form = FormPinned
		case !wanted.Digest && has.Digest:
			form = FormUnpinned
		case wanted.Tag && !has.Tag:
			form = FormTagged
		case !wanted.Tag && has.Tag:
			form = FormUntagged
		}
	}
	return form, possible
}

// RewritesForm reports whether the files of a target have another form than pin requires.
func (c Current) RewritesForm() bool {
	return slices.ContainsFunc(c.References, func(r edit.Reference) bool { return r.Form != edit.Form{} })
}

// rewritesForm reports whether a reference to the component has another form than pin requires.
func (r currentRef) rewritesForm() bool {
	return slices.ContainsFunc(r.references, func(reference *edit.Reference) bool { return reference.Form != edit.Form{} })
}
