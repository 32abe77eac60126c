package promotion

import (
	"maps"
	"slices"

	"promoter/internal/image"
)

// standing is what one place says about one component.
type standing struct {
	component  string
	repository image.Repository
	versions   []image.Version // one per reference, in the order of the files
}

// standings groups the references of a place by component, sorted by name.
func standings(present Present, facts Facts) []standing {
	byName := map[string]*standing{}
	for _, r := range present.References {
		s, ok := byName[r.Component]
		if !ok {
			s = &standing{component: r.Component, repository: r.Repository}
			byName[r.Component] = s
		}
		s.versions = append(s.versions, facts.known(r))
	}
	grouped := make([]standing, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		grouped = append(grouped, *byName[name])
	}
	return grouped
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
	for _, v := range versions {
		if v.Digest != "" && v.Tag != "" {
			return v
		}
	}
	for _, v := range versions {
		if v.Digest != "" {
			return v
		}
	}
	return versions[0]
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
		if SameRollout(present, v) {
			continue
		}
		if order, known := compare(present, v, policy); known && order > 0 {
			return present, true
		}
	}
	return image.Version{}, false
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
	return Pinned{Repository: s.repository, Version: fullest(s.versions)}
}
