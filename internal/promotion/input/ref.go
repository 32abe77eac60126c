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

// Ref is what the files of one target say about one component.
type Ref struct {
	Component  string
	Repository image.Repository
	References []*edit.Reference
	Derived    []*edit.Reference // see promotion.Current
	Versions   []image.Version   // one per reference, in the order of the files
	// Recorded is the version in the target's snapshot. In a checkout it is the most
	// complete of the versions. Otherwise it is taken from the files and the commit
	// trailers only, because a tag may have moved since it landed.
	Recorded image.Version
}

// refsIn groups the references of a target by component, sorted by name.
func refsIn(o *promotion.Observation, target promotion.Target, current promotion.Current, isParent bool) []Ref {
	references := current.References
	sorted := make([]*edit.Reference, len(references))
	for i := range references {
		sorted[i] = &references[i]
	}
	slices.SortStableFunc(sorted, func(a, b *edit.Reference) int { return strings.Compare(a.Component, b.Component) })
	var refs []Ref
	for len(sorted) > 0 {
		n := slices.IndexFunc(sorted, func(r *edit.Reference) bool { return r.Component != sorted[0].Component })
		if n < 0 {
			n = len(sorted)
		}
		refs = append(refs, newRef(o, target, sorted[:n], isParent))
		sorted = sorted[n:]
	}
	for i := range current.Derived {
		derived := &current.Derived[i]
		if at := slices.IndexFunc(refs, func(ref Ref) bool { return ref.Component == derived.Component }); at >= 0 {
			refs[at].Derived = append(refs[at].Derived, derived)
		}
	}
	return refs
}

func newRef(o *promotion.Observation, target promotion.Target, references []*edit.Reference, isParent bool) Ref {
	ref := Ref{
		Component: references[0].Component, Repository: references[0].Repository, References: references,
		Versions: make([]image.Version, 0, len(references)),
	}
	for i, r := range references {
		if written := r.Version(); i == 0 || moreComplete(written, ref.Recorded) {
			ref.Recorded = written
		}
		ref.Versions = append(ref.Versions, o.Facts.Complete(*r))
	}
	if resolved, agree := ref.resolve(o, target); agree {
		ref.Versions = resolved
		ref.Recorded.Tag = cmp.Or(ref.Recorded.Tag, mostComplete(resolved).Tag)
	}
	if o.Checkout {
		written := ref.Recorded
		ref.Recorded = mostComplete(ref.Versions)
		if isParent && written.Digest == "" && IsMoving(o.Policies[ref.Component]) {
			ref.Recorded.Digest = "" // what runs there may be any digest that the tag had
		}
		return ref
	}
	// What the files do not have of a version is what it landed with: the digest of a tag, or
	// the tag of a digest.
	for _, landing := range o.Landings[target] {
		landed := landing.Snapshot[ref.Component]
		if landed.Repository != ref.Repository || !promotion.SameRollout(landed.Version, ref.Recorded) {
			break
		}
		ref.Recorded.Tag = cmp.Or(ref.Recorded.Tag, landed.Version.Tag)
		ref.Recorded.Digest = cmp.Or(ref.Recorded.Digest, landed.Version.Digest)
	}
	if isParent && ref.Recorded.Digest == "" && !IsMoving(o.Policies[ref.Component]) {
		ref.Recorded.Digest = observedDigest(o, target, ref)
	}
	ref.Recorded = o.Facts.Describe(ref.Repository, ref.Recorded)
	return ref
}

// resolve returns the versions of references that look different, with the digests that their tags have: false if they differ
// still. Nothing shows which digest of a moving tag a file means.
func (r Ref) resolve(o *promotion.Observation, target promotion.Target) ([]image.Version, bool) {
	if _, agreed := r.Agreed(); agreed || IsMoving(o.Policies[r.Component]) {
		return nil, false
	}
	resolved := slices.Clone(r.Versions)
	for i, reference := range r.References {
		if resolved[i].Digest == "" {
			resolved[i].Digest = o.Resolve(target, *reference).Digest
		}
		if resolved[i].Digest == "" {
			return nil, false
		}
	}
	return resolved, promotion.Agree(resolved)
}

// observedDigest returns the digest of a tag that a user wrote without one: the digest that
// it had when promoter first saw it there, which may be now.
func observedDigest(o *promotion.Observation, target promotion.Target, ref Ref) string {
	if digest, known := o.State.ObservedDigest(state.Target(target), ref.Repository.String(), ref.Recorded.Tag); known {
		return digest
	}
	return o.Facts[promotion.Fact{Repository: ref.Repository, Tag: ref.Recorded.Tag}].Digest
}

// Agreed returns the version of all references; false if they disagree.
func (r Ref) Agreed() (image.Version, bool) {
	first := mostComplete(r.Versions)
	for _, v := range r.Versions {
		if !promotion.SameRollout(first, v) {
			return image.Version{}, false
		}
	}
	return first, true
}

// Differs reports whether any reference does not have the version yet. If the
// digest counts, a tag without a digest proves nothing.
func (r Ref) Differs(wanted image.Version, needsDigest bool) bool {
	return slices.ContainsFunc(r.Versions, func(v image.Version) bool {
		return !promotion.SameRollout(v, wanted) || needsDigest && v.Digest == ""
	})
}

// NewerThan returns a reference that is newer than the version, so that writing
// the version would move the component back.
func (r Ref) NewerThan(v image.Version, policy *image.Policy) (image.Version, bool) {
	for _, current := range r.Versions {
		if IsNewer(current, v, policy) {
			return current, true
		}
	}
	return image.Version{}, false
}

// Spelled returns an available version with the leading v that the files have, or without, where the
// registry has both tags with one digest.
func (r Ref) Spelled(a promotion.Available) image.Version {
	v := a.Version
	for _, current := range r.Versions {
		if tag := image.Spelled(current.Tag, v.Tag, a.Spellings); tag != "" {
			v.Tag = tag
			break
		}
	}
	return v
}

// OtherForm returns how the tag that the files have differs in form from a version, so that it is of
// another line of versions. Empty: it does not, or a user named the component for it.
func (r Ref) OtherForm(v image.Version, policy *image.Policy) string {
	if policy == nil || v.Tag == "" || slices.ContainsFunc(r.References, func(reference *edit.Reference) bool { return reference.Marked }) {
		return ""
	}
	for _, current := range r.Versions {
		if why := policy.OtherForm(current.Tag, v.Tag); why != "" && current.Tag != "" {
			return why
		}
	}
	return ""
}

// OtherScheme reports whether the files have a version of another scheme than an available one, such as
// 6.13.0 and 2021.12.14.
func (r Ref) OtherScheme(v image.Version, policy *image.Policy) bool {
	other := func(current image.Version) bool { return policy.OtherScheme(current.Tag, v.Tag) }
	return policy != nil && slices.ContainsFunc(r.Versions, other)
}

// Move returns the move of the component to a version.
func (r Ref) Move(to image.Version) promotion.Move {
	from, _ := r.Agreed()
	return promotion.Move{Component: r.Component, From: from, To: to}
}

// Pinned returns the component as the snapshot of the target has it.
func (r Ref) Pinned() promotion.Pinned {
	return promotion.Pinned{Repository: r.Repository, Version: r.Recorded}
}

// mostComplete returns the version of which most is known.
func mostComplete(versions []image.Version) image.Version {
	best := versions[0]
	for _, v := range versions[1:] {
		if moreComplete(v, best) {
			best = v
		}
	}
	return best
}

// moreComplete reports whether more is known of a than of b.
func moreComplete(a, b image.Version) bool {
	if a.Digest == "" {
		return false
	}
	return b.Digest == "" || a.Tag != "" && b.Tag == ""
}

// IsNewer reports whether a is known to be newer than b.
func IsNewer(a, b image.Version, policy *image.Policy) bool {
	if policy == nil || promotion.SameRollout(a, b) {
		return false
	}
	order, known := Compare(a, b, policy)
	return known && order > 0
}

// Compare orders two versions of a component. A moving tag has no order of its
// own, so the creation dates decide.
func Compare(a, b image.Version, policy *image.Policy) (int, bool) {
	if _, moving := policy.Moving(); !moving {
		return policy.Compare(a, b)
	}
	if !image.KnownCreated(a.Created) || !image.KnownCreated(b.Created) {
		return 0, false
	}
	return a.Created.Compare(b.Created), true
}
