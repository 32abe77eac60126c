package promotion

import (
	"slices"
	"strings"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// standing is what one place says about one component.
type standing struct {
	component  string
	repository image.Repository
	versions   []image.Version // one per reference, in the order of the files
	// told is what a snapshot of the place holds: in a checkout the fullest of the
	// versions; elsewhere what the files and the trailers say, because where a tag
	// points now does not tell where it pointed when it landed.
	told image.Version
}

// standings groups the references of a place by component, sorted by name.
func (o Observation) standings(target Target, present Current) []standing {
	references := byComponent(present.References)
	var grouped []standing
	for len(references) > 0 {
		first := references[0]
		n := slices.IndexFunc(references, func(r *edit.Reference) bool { return r.Component != first.Component })
		if n < 0 {
			n = len(references)
		}
		grouped = append(grouped, o.standing(target, references[:n]))
		references = references[n:]
	}
	return grouped
}

// byComponent sorts references by component, and leaves them in the order of the
// files within each.
func byComponent(references []edit.Reference) []*edit.Reference {
	sorted := make([]*edit.Reference, len(references))
	for i := range references {
		sorted[i] = &references[i]
	}
	slices.SortStableFunc(sorted, func(a, b *edit.Reference) int { return strings.Compare(a.Component, b.Component) })
	return sorted
}

// standing is what all references to one component say.
func (o Observation) standing(target Target, references []*edit.Reference) standing {
	s := standing{
		component: references[0].Component, repository: references[0].Repository,
		versions: make([]image.Version, 0, len(references)),
	}
	for i, r := range references {
		if written := (image.Version{Tag: r.Tag, Digest: r.Digest}); i == 0 || fuller(written, s.told) {
			s.told = written
		}
		s.versions = append(s.versions, o.Facts.known(*r))
	}
	s.told = o.told(target, &s)
	return s
}

// told completes what the files of a place say of a component: a tag alone is the
// digest with which it landed there.
func (o Observation) told(target Target, s *standing) image.Version {
	if o.Checkout {
		return fullest(s.versions)
	}
	told := s.told
	for _, landing := range o.Landings[target] {
		landed := landing.Snapshot[s.component]
		if told.Digest != "" || landed.Repository != s.repository || landed.Version.Tag != told.Tag {
			break
		}
		told.Digest = landed.Version.Digest
	}
	return o.Facts.described(s.repository, told)
}

// described adds what a registry told about a version, but its digest: a tag may
// point elsewhere by now.
func (f Facts) described(repository image.Repository, v image.Version) image.Version {
	fact, known := f[Fact{Repository: repository, Tag: v.Tag, Digest: v.Digest}]
	if !known || v.Digest == "" {
		return v
	}
	fact.Tag, fact.Digest = v.Tag, v.Digest
	return fact
}

// agreed returns the version that all references say; false when they disagree.
func (s standing) agreed() (image.Version, bool) {
	first := fullest(s.versions)
	for _, v := range s.versions {
		if !SameRollout(first, v) {
			return image.Version{}, false
		}
	}
	return first, true
}

// fullest returns the version of which most is known: one with a digest before
// one without.
func fullest(versions []image.Version) image.Version {
	best := versions[0]
	for _, v := range versions[1:] {
		if fuller(v, best) {
			best = v
		}
	}
	return best
}

// fuller says whether more is known of a than of b.
func fuller(a, b image.Version) bool {
	if a.Digest == "" {
		return false
	}
	return b.Digest == "" || a.Tag != "" && b.Tag == ""
}

// differs says whether any reference does not hold the version yet. Where the
// digest counts, a tag without one says nothing about what runs.
func (s standing) differs(wanted image.Version, needsDigest bool) bool {
	return slices.ContainsFunc(s.versions, func(v image.Version) bool {
		return !SameRollout(v, wanted) || needsDigest && v.Digest == ""
	})
}

// newerThan returns the reference that is newer than the version, so that
// writing the version would move the component back.
func (s standing) newerThan(v image.Version, policy *image.Policy) (image.Version, bool) {
	if policy == nil {
		return image.Version{}, false
	}
	for _, present := range s.versions {
		if isNewer(present, v, policy) {
			return present, true
		}
	}
	return image.Version{}, false
}

// isNewer says whether a is known to be newer than b.
func isNewer(a, b image.Version, policy *image.Policy) bool {
	if policy == nil || SameRollout(a, b) {
		return false
	}
	order, known := compare(a, b, policy)
	return known && order > 0
}

// compare orders two versions of a component. A moving tag has no order of its
// own: there the publisher's dates are all there is.
func compare(a, b image.Version, policy *image.Policy) (int, bool) {
	if _, moving := policy.Moving(); !moving {
		return policy.Compare(a, b)
	}
	if !image.KnownCreated(a.Created) || !image.KnownCreated(b.Created) {
		return 0, false
	}
	return a.Created.Compare(b.Created), true
}

// move makes the step from what stands there to the wanted version.
func (s standing) move(to image.Version) Move {
	from, _ := s.agreed()
	return Move{Component: s.component, From: from, To: to}
}

// pinned is what the snapshot says of a component that stays.
func (s standing) pinned() Pinned {
	return Pinned{Repository: s.repository, Version: s.told}
}
