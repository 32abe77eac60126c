package promotion

import (
	"cmp"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/state"
)

// index is an observation with what the decisions about many targets need of it.
type index struct {
	obs          *Observation
	refs         map[Target][]currentRef
	parents      map[string]bool     // environments that others follow
	applications map[string][]string // by environment, unsorted
}

func newIndex(observation Observation) *index {
	ix := &index{
		obs:          &observation,
		refs:         make(map[Target][]currentRef, len(observation.Targets)),
		parents:      parentsIn(observation.Config),
		applications: map[string][]string{},
	}
	for target, current := range observation.Targets {
		ix.refs[target] = currentRefs(&observation, target, current.References, ix.parents[target.Environment])
		ix.applications[target.Environment] = append(ix.applications[target.Environment], target.Application)
	}
	return ix
}

// applicationsOf returns the applications that an environment has files of, or
// could get from an upstream environment, sorted.
func (ix *index) applicationsOf(environment string) []string {
	names := slices.Clone(ix.applications[environment])
	for _, ancestor := range ix.obs.Config.Ancestors(environment) {
		names = append(names, ix.applications[ancestor]...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 && ix.obs.Unavailable[environment] != "" {
		return []string{""}
	}
	return names
}

// ref returns the current reference of a target to a component.
func (ix *index) ref(target Target, component string) (currentRef, bool) {
	return find(ix.refs[target], func(ref currentRef) bool { return ref.component == component })
}

// moving reports whether a component follows a moving tag.
func (ix *index) moving(component string) bool { return isMoving(ix.obs.Policies[component]) }

func isMoving(policy *image.Policy) bool {
	if policy == nil {
		return false
	}
	_, moving := policy.Moving()
	return moving
}

// currentRef is what the files of one target say about one component.
type currentRef struct {
	component  string
	repository image.Repository
	references []*edit.Reference
	versions   []image.Version // one per reference, in the order of the files
	// recorded is the version in the target's snapshot. In a checkout it is the most
	// complete of the versions. Otherwise it is taken from the files and the commit
	// trailers only, because a tag may have moved since it landed.
	recorded image.Version
}

// currentRefs groups the references of a target by component, sorted by name.
func currentRefs(o *Observation, target Target, references []edit.Reference, isParent bool) []currentRef {
	sorted := make([]*edit.Reference, len(references))
	for i := range references {
		sorted[i] = &references[i]
	}
	slices.SortStableFunc(sorted, func(a, b *edit.Reference) int { return strings.Compare(a.Component, b.Component) })
	var refs []currentRef
	for len(sorted) > 0 {
		n := slices.IndexFunc(sorted, func(r *edit.Reference) bool { return r.Component != sorted[0].Component })
		if n < 0 {
			n = len(sorted)
		}
		refs = append(refs, newCurrentRef(o, target, sorted[:n], isParent))
		sorted = sorted[n:]
	}
	return refs
}

func newCurrentRef(o *Observation, target Target, references []*edit.Reference, isParent bool) currentRef {
	ref := currentRef{
		component: references[0].Component, repository: references[0].Repository, references: references,
		versions: make([]image.Version, 0, len(references)),
	}
	for i, r := range references {
		if written := (image.Version{Tag: r.Tag, Digest: r.Digest}); i == 0 || moreComplete(written, ref.recorded) {
			ref.recorded = written
		}
		ref.versions = append(ref.versions, o.Facts.complete(*r))
	}
	if o.Checkout {
		written := ref.recorded
		ref.recorded = mostComplete(ref.versions)
		if isParent && written.Digest == "" && isMoving(o.Policies[ref.component]) {
			ref.recorded.Digest = "" // what runs there may be any digest that the tag had
		}
		return ref
	}
	// What the files do not have of a version is what it landed with: the digest of a tag, or
	// the tag of a digest.
	for _, landing := range o.Landings[target] {
		landed := landing.Snapshot[ref.component]
		if landed.Repository != ref.repository || !SameRollout(landed.Version, ref.recorded) {
			break
		}
		ref.recorded.Tag = cmp.Or(ref.recorded.Tag, landed.Version.Tag)
		ref.recorded.Digest = cmp.Or(ref.recorded.Digest, landed.Version.Digest)
	}
	if isParent && ref.recorded.Digest == "" && !isMoving(o.Policies[ref.component]) {
		ref.recorded.Digest = observedDigest(o, target, ref)
	}
	ref.recorded = o.Facts.describe(ref.repository, ref.recorded)
	return ref
}

// observedDigest returns the digest of a tag that a user wrote without one: the digest that
// it had when promoter first saw it there, which may be now.
func observedDigest(o *Observation, target Target, ref currentRef) string {
	if digest, known := o.State.ObservedDigest(state.Target(target), ref.repository.String(), ref.recorded.Tag); known {
		return digest
	}
	return o.Facts[Fact{Repository: ref.repository, Tag: ref.recorded.Tag}].Digest
}

// parentsIn returns the environments that others follow, for any application.
func parentsIn(c *config.Config) map[string]bool {
	parents := map[string]bool{}
	for _, child := range c.Environments {
		for _, parent := range c.Ancestors(child.Name) {
			parents[parent] = true
		}
	}
	return parents
}

// agreed returns the version of all references; false if they disagree.
func (r currentRef) agreed() (image.Version, bool) {
	first := mostComplete(r.versions)
	for _, v := range r.versions {
		if !SameRollout(first, v) {
			return image.Version{}, false
		}
	}
	return first, true
}

// differs reports whether any reference does not have the version yet. If the
// digest counts, a tag without a digest proves nothing.
func (r currentRef) differs(wanted image.Version, needsDigest bool) bool {
	return slices.ContainsFunc(r.versions, func(v image.Version) bool {
		return !SameRollout(v, wanted) || needsDigest && v.Digest == ""
	})
}

// newerThan returns a reference that is newer than the version, so that writing
// the version would move the component back.
func (r currentRef) newerThan(v image.Version, policy *image.Policy) (image.Version, bool) {
	return find(r.versions, func(current image.Version) bool { return isNewer(current, v, policy) })
}

func (r currentRef) move(to image.Version) Move {
	from, _ := r.agreed()
	return Move{Component: r.component, From: from, To: to}
}

func (r currentRef) pinned() Pinned { return Pinned{Repository: r.repository, Version: r.recorded} }

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

// isNewer reports whether a is known to be newer than b.
func isNewer(a, b image.Version, policy *image.Policy) bool {
	if policy == nil || SameRollout(a, b) {
		return false
	}
	order, known := compare(a, b, policy)
	return known && order > 0
}

// compare orders two versions of a component. A moving tag has no order of its
// own, so the creation dates decide.
func compare(a, b image.Version, policy *image.Policy) (int, bool) {
	if _, moving := policy.Moving(); !moving {
		return policy.Compare(a, b)
	}
	if !image.KnownCreated(a.Created) || !image.KnownCreated(b.Created) {
		return 0, false
	}
	return a.Created.Compare(b.Created), true
}

// isNone reports whether there is no version at all.
func isNone(v image.Version) bool { return v.Tag == "" && v.Digest == "" }
