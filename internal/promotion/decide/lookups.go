package decide

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

// Lookups returns what Plan needs to know from registries, given the available
// versions: the digests behind tags that differ, because two tags of one digest
// are no rollout; where the tags of parents point now; and dates if only they give
// an order. Nothing is looked up that would change no decision. The lookups are
// sorted and unique. The errors are those of Plan.
func Lookups(ctx context.Context, observation promotion.Observation) ([]promotion.Lookup, error) {
	of, err := LookupsOf(ctx, observation)
	return Merged(of), err
}

// LookupsOf returns the lookups of each application.
func LookupsOf(ctx context.Context, observation promotion.Observation) (map[string][]promotion.Lookup, error) {
	return lookupsOf(ctx, observation, func(in input.Target, found lookups) {
		for i := range in.Refs {
			found.addComponent(in, i)
		}
	})
}

// lookupsOf collects the lookups of each application from its targets.
func lookupsOf(
	ctx context.Context, observation promotion.Observation, add func(in input.Target, found lookups),
) (map[string][]promotion.Lookup, error) {
	ix := input.NewIndex(ctx, observation)
	of := map[string]lookups{}
	lookup := input.Row{Name: "lookups", Reads: input.Everything} // which are made again with each decision
	none := newLookups()                                          // nearly all applications have none
	for _, environment := range observation.Scope() {
		for _, application := range ix.Applications[environment] {
			found, known := of[application]
			if !known {
				found = none
			}
			target := promotion.Target{Environment: environment, Application: application}
			add(input.New(ix, target, time.Time{}, new(input.Reads)).For(lookup), found)
			if err := ix.Err(target); err != nil {
				return nil, err
			}
			if !known && len(none.all) > 0 {
				of[application] = none
				none = newLookups()
			}
		}
	}
	sorted := make(map[string][]promotion.Lookup, len(of))
	for application, found := range of {
		for fact := range found.written {
			if lookup := found.all[fact]; fact.Release == "" {
				lookup.Verify = observation.Verify[lookup.Component]
				found.all[fact] = lookup
			}
		}
		sorted[application] = found.sorted()
	}
	return sorted, nil
}

// Merged returns the lookups of all applications, sorted and unique: each answers all that
// applications ask about its fact.
func Merged(of map[string][]promotion.Lookup) []promotion.Lookup {
	merged := newLookups()
	for _, application := range slices.Sorted(maps.Keys(of)) {
		for _, lookup := range of[application] {
			known := merged.all[lookup.Fact]
			lookup.Created = lookup.Created || known.Created
			if len(lookup.Verify) == 0 {
				lookup.Verify = known.Verify
			}
			merged.all[lookup.Fact] = lookup
		}
	}
	return merged.sorted()
}

// lookups collects lookups, each once.
type lookups struct {
	all     map[promotion.Fact]promotion.Lookup
	written map[promotion.Fact]bool // of versions that may be written to files
}

func newLookups() lookups {
	return lookups{all: map[promotion.Fact]promotion.Lookup{}, written: map[promotion.Fact]bool{}}
}

func (l lookups) sorted() []promotion.Lookup {
	key := func(q promotion.Lookup) string {
		return q.Repository.String() + ":" + q.Tag + "@" + q.Digest + " " + q.Release
	}
	return slices.SortedFunc(maps.Values(l.all), func(a, b promotion.Lookup) int { return strings.Compare(key(a), key(b)) })
}

// addUnknown looks up what is not known about a version.
func (l lookups) addUnknown(ref input.Ref, v image.Version, created bool) {
	if v.Digest != "" && (!created || image.KnownCreated(v.Created)) {
		return
	}
	fact := promotion.Fact{Repository: ref.Repository, Tag: v.Tag, Digest: v.Digest}
	l.all[fact] = promotion.Lookup{Fact: fact, Component: ref.Component, Created: created || l.all[fact].Created}
}

// add looks up a version that may be written, whatever is known about it.
func (l lookups) add(ref input.Ref, fact promotion.Fact) {
	l.all[fact] = promotion.Lookup{Fact: fact, Component: ref.Component, Created: l.all[fact].Created}
	l.written[fact] = true
}

// addComponent looks up what is not known about the versions that a component of a
// target may move to: those of a rollback, of the open pull request, and of the
// registry or the sources.
func (l lookups) addComponent(in input.Target, i int) {
	ref := in.Refs[i]
	if back := in.Record().Rollback; back != nil {
		if to, valid := rollbackVersion(in, ref, back.Images[ref.Component]); valid && ref.Differs(to, in.Moving(ref.Component)) {
			l.add(ref, rollbackFact(in, ref.Component, to))
		}
	}
	l.addDisagreeing(in, ref)
	l.addOpen(in, ref)
	l.addPosted(in, ref)
	if len(in.Settings.After) == 0 {
		available, _ := availableTo(in, ref)
		if available.Found && !available.Explicit {
			l.addBetween(in, ref, available.Version)
		}
		if ref.RewritesForm() && !in.Moving(ref.Component) && !promotion.SameRollout(ref.Versions[0], available.Version) {
			l.add(ref, in.CurrentFact(ref.Component, ref.Versions[0]))
		}
		return
	}
	for _, version := range sourceVersions(in, i) {
		if !in.Spend(1 + len(in.Settings.After)) {
			return
		}
		l.addBetween(in, ref, version)
		l.addVerification(in, ref, version)
		if ref.NeedsMetadata(in.Policies[ref.Component]) {
			l.addUnknown(ref, version, true)
		}
		for _, parent := range in.Settings.After {
			if parent.Tagged == "" {
				continue
			}
			l.addUnknown(ref, image.Version{Tag: parent.Tagged}, false)
			if in.Checkout {
				l.addUnknown(ref, version, false)
			}
		}
	}
}

// addDisagreeing looks up the digests of tags where files of the target, or of a source, look as if they had several versions:
// they may be the same image.
func (l lookups) addDisagreeing(in input.Target, ref input.Ref) {
	looked := []input.Ref{}
	if isMixed(ref) {
		looked = append(looked, ref)
	}
	for _, source := range in.Sources {
		if there, found := in.Others().Ref(source, ref.Component); found {
			looked = append(looked, there)
		}
	}
	for _, one := range looked {
		if _, agreed := one.Agreed(); agreed || in.Moving(ref.Component) {
			continue
		}
		for _, v := range one.Versions {
			if v.Tag != "" {
				l.addUnknown(one, v, false)
			}
		}
	}
}

// isMixed reports whether some references have a digest, and others only a tag.
func isMixed(ref input.Ref) bool {
	has := func(digest bool) bool {
		return slices.ContainsFunc(ref.Versions, func(v image.Version) bool { return (v.Digest != "") == digest })
	}
	return has(true) && has(false)
}

// addPosted looks up the version of a posted snapshot, and the dates of what it replaces:
// they may be the only order.
func (l lookups) addPosted(in input.Target, ref input.Ref) {
	requested := in.Registry().Explicit[ref.Component]
	if in.Request == nil || in.Request.Posted == "" || !requested.Found {
		return
	}
	l.addVerification(in, ref, requested.Version)
	for _, v := range ref.Versions {
		if !promotion.SameRollout(v, requested.Version) {
			l.addUnknown(ref, v, true)
		}
	}
}

// addOpen looks up the version of the open pull request, unless the registry just
// reported it as available.
func (l lookups) addOpen(in input.Target, ref input.Ref) {
	open := in.OpenPullRequest()
	if open == nil {
		return
	}
	pinned, known := open.Snapshots[in.Target.Application][ref.Component]
	if !known || pinned.Repository != ref.Repository {
		return
	}
	if _, moves := input.MoveTo(in, ref, pinned.Version); !moves {
		return
	}
	available := in.Registry().Available[ref.Component]
	if len(in.Settings.After) == 0 && available.Found && promotion.SameRollout(available.Version, pinned.Version) {
		return
	}
	l.addBetween(in, ref, pinned.Version)
	l.addVerification(in, ref, pinned.Version)
}

// sourceVersions returns the versions of a component that may come from the
// sources: in a checkout those of their files, otherwise those that were there
// since the version that the target has.
func sourceVersions(in input.Target, i int) []image.Version {
	var versions []image.Version
	if in.Checkout {
		for _, source := range in.Sources {
			ref, _ := in.Others().Ref(source, in.Refs[i].Component)
			versions = append(versions, ref.Versions...)
		}
		return versions
	}
	for k := range in.Sources {
		for _, t := range input.PeriodsOf(in, k) {
			ref := in.Refs[i]
			version := t.Versions[i]
			if promotion.IsNone(version) {
				break
			}
			_, rewrites := input.Rewrite(in, ref, version)
			differs := ref.Differs(version, in.Moving(ref.Component))
			if differs || rewrites || ref.RewritesForm() {
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
func (l lookups) addBetween(in input.Target, ref input.Ref, other image.Version) {
	policy := in.Policies[ref.Component]
	created := input.IsMoving(policy) || policy != nil && policy.NeedsCreated()
	fromParent := len(in.Settings.After) > 0 && !in.Checkout
	for _, v := range ref.Versions {
		if promotion.SameRollout(v, other) {
			continue
		}
		if !in.Checkout || policy == nil || !policy.DifferentReleases(v, other) {
			l.addUnknown(ref, v, created)
		}
		if other.Digest != "" || !fromParent {
			l.addUnknown(ref, other, created)
		}
	}
}

// addVerification looks up a version that verifyImages verifies: its tag may point
// elsewhere by now.
func (l lookups) addVerification(in input.Target, ref input.Ref, v image.Version) {
	move, rewrites := input.Rewrite(in, ref, v)
	if rewrites {
		v = move.To
	}
	switch {
	case !ref.Differs(v, false) && !rewrites && !ref.RewritesForm():
	case !in.Checkout:
		l.add(ref, in.CurrentFact(ref.Component, v))
		if fact, needed := input.ReleaseFact(ref.Repository, in.Policies[ref.Component], v); needed && len(in.Settings.After) > 0 {
			l.add(ref, fact)
		}
	case len(in.Verify[ref.Component]) > 0:
		l.add(ref, in.CurrentFact(ref.Component, v))
	case v.Tag != "" && !in.Moving(ref.Component):
		l.addUnknown(ref, image.Version{Tag: v.Tag}, false)
	}
}
