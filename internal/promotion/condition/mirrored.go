package condition

import (
	"fmt"
	"slices"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

// Mirrored requires that the versions of the moves are in the mirrors that the files name
// instead of the followed repositories. A digest is looked for by itself. Where the files have
// only the tag, the tag must point to the same digest in the mirror.
func Mirrored(in input.Target, moves []promotion.Move) []promotion.Condition {
	var conditions []promotion.Condition
	for _, move := range moves {
		for _, m := range MirrorsOf(in, move.Component) {
			c := promotion.Condition{Name: move.Component + " " + promotion.Label(move.To) + " mirrored"}
			c.State, c.Reason = m.has(in.For(otherConditions[ofMirror]), move)
			if c.State == promotion.Passed {
				c.Value = m.repository.Familiar()
			}
			conditions = append(conditions, c)
		}
	}
	return conditions
}

// Mirror is how the files of a target name the repository of a component by a mirror.
type Mirror struct {
	repository image.Repository
	byTag      bool // some reference has, or gets, only a tag
	byDigest   bool // some reference has, or gets, a digest
}

// MirrorsOf returns the mirrors of a component in the target, in the order of the files.
func MirrorsOf(in input.Target, component string) []Mirror {
	var mirrors []Mirror
	ref, _ := in.RefOf(component)
	for _, r := range ref.References {
		if r.Mirror.IsZero() {
			continue
		}
		i := slices.IndexFunc(mirrors, func(m Mirror) bool { return m.repository == r.Mirror })
		if i < 0 {
			i = len(mirrors)
			mirrors = append(mirrors, Mirror{repository: r.Mirror})
		}
		form := r.Form
		if form == (edit.Form{}) {
			form = edit.Form{Tag: r.Tag != "", Digest: r.Digest != ""}
		}
		if form.Tag && !form.Digest {
			mirrors[i].byTag = true
		} else {
			mirrors[i].byDigest = true
		}
	}
	return mirrors
}

// Facts returns the lookups that show whether a mirror has a version.
func (m Mirror) Facts(v image.Version) []promotion.Fact {
	var facts []promotion.Fact
	if m.byDigest && v.Digest != "" {
		facts = append(facts, promotion.Fact{Repository: m.repository, Digest: v.Digest})
	}
	if v.Tag != "" && (m.byTag || v.Digest == "") {
		facts = append(facts, promotion.Fact{Repository: m.repository, Tag: v.Tag})
	}
	return facts
}

// has decides whether a mirror has the version of a move.
func (m Mirror) has(in input.Target, move promotion.Move) (promotion.ConditionState, string) {
	facts := in.Registry().Facts
	digest := move.To.Digest
	if digest == "" {
		digest = facts[promotion.Fact{Repository: in.RepositoryOf(move.Component), Tag: move.To.Tag}].Digest
	}
	if digest == "" {
		return promotion.Unknown, "not verified: the digest is unknown"
	}
	for _, fact := range m.Facts(move.To) {
		now, known := facts[fact]
		switch {
		case !known:
			return promotion.Unknown, fmt.Sprintf("not verified: %s gave no answer", m.repository.Familiar())
		case promotion.IsMissing(now) && fact.Digest != "":
			return promotion.Pending, fmt.Sprintf("not in the mirror yet: %s has no %s",
				m.repository.Familiar(), promotion.ShortDigest(digest))
		case promotion.IsMissing(now):
			return promotion.Pending, fmt.Sprintf("not in the mirror yet: %s has no tag %s", m.repository.Familiar(), fact.Tag)
		case now.Digest != digest:
			has, wanted := promotion.ShortDigest(now.Digest), promotion.ShortDigest(digest)
			return promotion.Pending, fmt.Sprintf("not in the mirror yet: %s has %s as %s instead of %s",
				m.repository.Familiar(), promotion.Label(move.To), has, wanted)
		}
	}
	return promotion.Passed, ""
}
