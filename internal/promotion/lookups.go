package promotion

import (
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/state"
)

// Lookup is something that only a registry knows about a version.
type Lookup struct {
	Fact
	Component string // one that needs it
	Created   bool   // the date is needed too, not only the digest
	// Verify is what signatures must prove about the version.
	Verify []config.Verify

	written bool // the version may be written to files
}

func (l Lookup) key() string {
	return l.Repository.String() + ":" + l.Tag + "@" + l.Digest + " " + l.Release
}

// Lookups returns what Plan needs to know from registries, given the available
// versions: the digests behind tags that differ, because two tags of one digest
// are no rollout; where the tags of parents point now; and dates if only they give
// an order. Nothing is looked up that would change no decision. The lookups are
// sorted and unique.
func Lookups(observation Observation) []Lookup {
	ix, found := newIndex(observation), lookups{}
	for _, environment := range observation.Scope() {
		for _, application := range ix.applications[environment] {
			in := newInput(ix, Target{environment, application}, time.Time{})
			for i := range in.refs {
				found.addComponent(in, i)
			}
		}
	}
	for fact, lookup := range found {
		if lookup.written && fact.Release == "" {
			lookup.Verify = observation.Verify[lookup.Component]
			found[fact] = lookup
		}
	}
	return found.sorted()
}

// lookups collects lookups, each once.
type lookups map[Fact]Lookup

func (l lookups) sorted() []Lookup {
	return slices.SortedFunc(maps.Values(l), func(a, b Lookup) int { return strings.Compare(a.key(), b.key()) })
}

// addUnknown looks up what is not known about a version.
func (l lookups) addUnknown(ref currentRef, v image.Version, created bool) {
	if v.Digest != "" && (!created || image.KnownCreated(v.Created)) {
		return
	}
	fact := Fact{Repository: ref.repository, Tag: v.Tag, Digest: v.Digest}
	l[fact] = Lookup{Fact: fact, Component: ref.component, Created: created || l[fact].Created, written: l[fact].written}
}

// add looks up a version that may be written, whatever is known about it.
func (l lookups) add(ref currentRef, fact Fact) {
	l[fact] = Lookup{Fact: fact, Component: ref.component, Created: l[fact].Created, written: true}
}

// addComponent looks up what is not known about the versions that a component of a
// target may move to: those of a rollback, of the open pull request, and of the
// registry or the sources.
func (l lookups) addComponent(in *input, i int) {
	ref := in.refs[i]
	if back := in.obs.State.At(state.Target(in.target)).Rollback; back != nil {
		if to, valid := rollbackVersion(in, ref, back.Images[ref.component]); valid && ref.differs(to, in.ix.moving(ref.component)) {
			l.add(ref, rollbackFact(in, ref.component, to))
		}
	}
	l.addOpen(in, ref)
	l.addPosted(in, ref)
	if len(in.settings.After) == 0 {
		available := in.obs.Available[ref.component]
		if available.Found && !available.Explicit {
			l.addBetween(in, ref, available.Version)
		}
		if ref.rewritesForm() && !in.ix.moving(ref.component) && !SameRollout(ref.versions[0], available.Version) {
			l.add(ref, currentFact(in, ref.component, ref.versions[0]))
		}
		return
	}
	for _, version := range sourceVersions(in, i) {
		l.addBetween(in, ref, version)
		l.addVerification(in, ref, version)
		for _, parent := range in.settings.After {
			if parent.Tagged == "" {
				continue
			}
			l.addUnknown(ref, image.Version{Tag: parent.Tagged}, false)
			if in.obs.Checkout {
				l.addUnknown(ref, version, false)
			}
		}
	}
}

// addPosted looks up the version of a posted snapshot, and the dates of what it replaces:
// they may be the only order.
func (l lookups) addPosted(in *input, ref currentRef) {
	requested := in.obs.Explicit[in.target][ref.component]
	if in.request == nil || in.request.Posted == "" || !requested.Found {
		return
	}
	l.addVerification(in, ref, requested.Version)
	for _, v := range ref.versions {
		if !SameRollout(v, requested.Version) {
			l.addUnknown(ref, v, true)
		}
	}
}

// addOpen looks up the version of the open pull request, unless the registry just
// reported it as available.
func (l lookups) addOpen(in *input, ref currentRef) {
	open, found := openPullRequest(in)
	pinned, known := open.Snapshots[in.target.Application][ref.component]
	if !found || !known || pinned.Repository != ref.repository {
		return
	}
	if _, moves := in.moveTo(ref, pinned.Version); !moves {
		return
	}
	if available := in.obs.Available[ref.component]; len(in.settings.After) == 0 && available.Found && SameRollout(available.Version, pinned.Version) {
		return
	}
	l.addBetween(in, ref, pinned.Version)
	l.addVerification(in, ref, pinned.Version)
}

// sourceVersions returns the versions of a component that may come from the
// sources: in a checkout those of their files, otherwise those that were there
// since the version that the target has.
func sourceVersions(in *input, i int) []image.Version {
	var versions []image.Version
	if in.obs.Checkout {
		for _, source := range in.sources {
			ref, _ := in.ix.ref(source, in.refs[i].component)
			versions = append(versions, ref.versions...)
		}
		return versions
	}
	for _, source := range in.sources {
		for _, t := range tenuresIn(in, source, true) {
			ref, version := in.refs[i], t.versions[i]
			if isNone(version) {
				break
			}
			_, rewrites := in.rewrite(ref, version)
			differs := ref.differs(version, in.ix.moving(ref.component))
			if differs || rewrites || ref.rewritesForm() {
				versions = append(versions, version)
			}
			if !differs {
				break
			}
		}
	}
	return versions
}

// addBetween looks up what is not known about the current versions and a version
// that looks different. No registry knows which digest a tag had in a parent. In a
// checkout, different releases count as different images without a request.
func (l lookups) addBetween(in *input, ref currentRef, other image.Version) {
	policy := in.obs.Policies[ref.component]
	created := isMoving(policy) || policy != nil && policy.NeedsCreated()
	fromParent := len(in.settings.After) > 0 && !in.obs.Checkout
	for _, v := range ref.versions {
		if SameRollout(v, other) {
			continue
		}
		if !in.obs.Checkout || policy == nil || !policy.DifferentReleases(v, other) {
			l.addUnknown(ref, v, created)
		}
		if other.Digest != "" || !fromParent {
			l.addUnknown(ref, other, created)
		}
	}
}

// addVerification looks up a version that verifyImages verifies: its tag may point
// elsewhere by now.
func (l lookups) addVerification(in *input, ref currentRef, v image.Version) {
	move, rewrites := in.rewrite(ref, v)
	if rewrites {
		v = move.To
	}
	switch {
	case !ref.differs(v, false) && !rewrites && !ref.rewritesForm():
	case !in.obs.Checkout:
		l.add(ref, currentFact(in, ref.component, v))
		if fact, needed := releaseFact(in, ref.component, v); needed && len(in.settings.After) > 0 {
			l.add(ref, fact)
		}
	case len(in.obs.Verify[ref.component]) > 0:
		l.add(ref, currentFact(in, ref.component, v))
	case v.Tag != "" && !in.ix.moving(ref.component):
		l.addUnknown(ref, image.Version{Tag: v.Tag}, false)
	}
}
