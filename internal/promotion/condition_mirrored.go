package promotion

import (
	"fmt"
	"slices"
	"time"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/state"
)

// mirrored requires that the versions of the moves are in the mirrors that the files name
// instead of the followed repositories. A digest is looked for by itself. Where the files have
// only the tag, the tag must point to the same digest in the mirror.
func mirrored(in *input, moves []Move) []Condition {
	var conditions []Condition
	for _, move := range moves {
		for _, m := range mirrorsOf(in, move.Component) {
			c := Condition{Name: move.Component + " " + Label(move.To) + " mirrored"}
			if c.State, c.Reason = m.has(in, move); c.State == Passed {
				c.Value = m.repository.Familiar()
			}
			conditions = append(conditions, c)
		}
	}
	return conditions
}

// mirrorUse is how the files of a target name the repository of a component by a mirror.
type mirrorUse struct {
	repository image.Repository
	byTag      bool // some reference has, or gets, only a tag
	byDigest   bool // some reference has, or gets, a digest
}

// mirrorsOf returns the mirrors of a component in the target, in the order of the files.
func mirrorsOf(in *input, component string) []mirrorUse {
	var mirrors []mirrorUse
	ref, _ := in.ix.ref(in.target, component)
	for _, r := range ref.references {
		if r.Mirror.IsZero() {
			continue
		}
		i := slices.IndexFunc(mirrors, func(m mirrorUse) bool { return m.repository == r.Mirror })
		if i < 0 {
			i, mirrors = len(mirrors), append(mirrors, mirrorUse{repository: r.Mirror})
		}
		form := r.Form
		if form == (edit.Form{}) {
			form = edit.Form{Tag: r.Tag != "", Digest: r.Digest != ""}
		}
		byTag := form.Tag && !form.Digest
		mirrors[i].byTag, mirrors[i].byDigest = mirrors[i].byTag || byTag, mirrors[i].byDigest || !byTag
	}
	return mirrors
}

// facts returns the lookups that show whether a mirror has a version.
func (m mirrorUse) facts(v image.Version) []Fact {
	var facts []Fact
	if m.byDigest && v.Digest != "" {
		facts = append(facts, Fact{Repository: m.repository, Digest: v.Digest})
	}
	if v.Tag != "" && (m.byTag || v.Digest == "") {
		facts = append(facts, Fact{Repository: m.repository, Tag: v.Tag})
	}
	return facts
}

// has decides whether a mirror has the version of a move.
func (m mirrorUse) has(in *input, move Move) (ConditionState, string) {
	digest := move.To.Digest
	if digest == "" {
		digest = in.obs.Facts[Fact{Repository: repositoryOf(in, move.Component), Tag: move.To.Tag}].Digest
	}
	if digest == "" {
		return Unknown, "not verified: the digest is unknown"
	}
	for _, fact := range m.facts(move.To) {
		now, known := in.obs.Facts[fact]
		switch {
		case !known:
			return Unknown, fmt.Sprintf("not verified: %s gave no answer", m.repository.Familiar())
		case isMissing(now) && fact.Digest != "":
			return Pending, fmt.Sprintf("not in the mirror yet: %s has no %s", m.repository.Familiar(), ShortDigest(digest))
		case isMissing(now):
			return Pending, fmt.Sprintf("not in the mirror yet: %s has no tag %s", m.repository.Familiar(), fact.Tag)
		case now.Digest != digest:
			return Pending, fmt.Sprintf("not in the mirror yet: %s has %s as %s instead of %s",
				m.repository.Familiar(), Label(move.To), ShortDigest(now.Digest), ShortDigest(digest))
		}
	}
	return Passed, ""
}

// MirrorLookups returns what Plan needs to know from mirrors, given the answers to Lookups. They
// are sorted and unique.
func MirrorLookups(observation Observation) []Lookup {
	ix, found := newIndex(observation), lookups{}
	for _, environment := range observation.Scope() {
		for _, application := range ix.applications[environment] {
			target := Target{environment, application}
			if !slices.ContainsFunc(observation.Targets[target].References, func(r edit.Reference) bool { return !r.Mirror.IsZero() }) {
				continue
			}
			in := newInput(ix, target, time.Time{})
			for i := range in.refs {
				found.addMirrors(in, i)
			}
		}
	}
	return found.sorted()
}

// addMirrors looks up the versions that a component of a target may move to in its mirrors,
// and the digests that these versions must have there.
func (l lookups) addMirrors(in *input, i int) {
	ref := in.refs[i]
	for _, m := range mirrorsOf(in, ref.component) {
		for _, to := range writable(in, i) {
			facts := m.facts(to)
			if to.Digest == "" && to.Tag != "" {
				facts = append(facts, Fact{Repository: ref.repository, Tag: to.Tag})
			}
			for _, fact := range facts {
				if _, known := in.obs.Facts[fact]; !known {
					l[fact] = Lookup{Fact: fact, Component: ref.component}
				}
			}
		}
	}
}

// writable returns the versions that may be written for a component of a target.
func writable(in *input, i int) []image.Version {
	ref, moving := in.refs[i], in.ix.moving(in.refs[i].component)
	var versions []image.Version
	if back := in.obs.State.At(state.Target(in.target)).Rollback; back != nil {
		if to, valid := rollbackVersion(in, ref, back.Images[ref.component]); valid && ref.differs(to, moving) {
			versions = append(versions, to)
		}
	}
	var candidates []image.Version
	if requested := in.obs.Explicit[in.target][ref.component]; requested.Found {
		candidates = append(candidates, requested.Version)
	}
	if open, found := openPullRequest(in); found {
		if pinned, known := open.Snapshots[in.target.Application][ref.component]; known && pinned.Repository == ref.repository {
			candidates = append(candidates, pinned.Version)
		}
	}
	if available := in.obs.Available[ref.component]; available.Found && (len(in.settings.After) == 0 || explicitlyHere(in)) {
		candidates = append(candidates, available.Version)
	}
	if len(in.settings.After) > 0 {
		candidates = append(candidates, sourceVersions(in, i)...)
	}
	if current, agreed := ref.agreed(); agreed {
		candidates = append(candidates, current) // its form may change
	}
	for _, v := range candidates {
		if move, moves := in.moveTo(ref, v); moves {
			versions = append(versions, move.To)
		}
	}
	return versions
}
