package image

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/Masterminds/semver/v3"
)

// Policy orders the tags of a repository. It is immutable and safe for use by
// several goroutines.
//
// The order is total: two different tags are never equal, so the same set of
// tags gives the same answer whatever the registry's order, and a file never
// flaps between two spellings of one version.
type Policy struct {
	strategy strategy
	value    string
	within   *semver.Constraints // only semver
	filter   *regexp.Regexp      // what a tag must match; nil: nothing
	exclude  []*regexp.Regexp
}

// Candidate is a tag that may be chosen.
type Candidate struct {
	Tag     string
	Version string // the text that was compared; + for _ where semver is
}

// Candidates is what a policy makes of a list of tags.
type Candidates struct {
	Ordered  []Candidate // best first
	Skipped  int         // could not be read as what the policy compares
	Excluded int         // filtered, excluded, out of range, or signatures and the like
}

// Moving returns the tag that is followed to whatever digest it points to.
func (p *Policy) Moving() (tag string, ok bool) {
	return p.value, p.strategy == byTag
}

// Release returns the source repository, FORGE/OWNER/REPO, whose releases say
// which versions there are.
func (p *Policy) Release() (source string, ok bool) {
	return p.value, p.strategy == byRelease
}

// NeedsCreated says that the created times decide. Candidates are then ordered
// by tag only, and the caller sorts them by Compare.
func (p *Policy) NeedsCreated() bool { return p.strategy == byNewest }

// ranked is a candidate with what it is ordered by.
type ranked struct {
	Candidate
	key key
}

// Candidates filters and orders tags, which come from a registry and are not
// trusted: invalid ones are skipped and doubled ones are dropped.
func (p *Policy) Candidates(tags []string) Candidates {
	var result Candidates
	found := make([]ranked, 0, len(tags))
	for _, tag := range tags {
		switch candidate, verdict := p.rank(tag); verdict {
		case accepted:
			found = append(found, candidate)
		case skipped:
			result.Skipped++
		case excluded:
			result.Excluded++
		}
	}
	slices.SortFunc(found, func(a, b ranked) int { return p.compareRanked(b, a) })
	found = slices.CompactFunc(found, func(a, b ranked) bool { return a.Tag == b.Tag })
	result.Ordered = make([]Candidate, len(found))
	for i := range found {
		result.Ordered[i] = found[i].Candidate
	}
	return result
}

// verdict is what a policy says about one tag.
type verdict int

const (
	accepted verdict = iota
	skipped
	excluded
)

// rank reads a tag.
func (p *Policy) rank(tag string) (ranked, verdict) {
	switch {
	case !ValidTag(tag):
		return ranked{}, skipped
	case attachment(tag) || p.Excludes(tag) || p.strategy == byRelease:
		return ranked{}, excluded
	case p.strategy == byTag && tag != p.value:
		return ranked{}, excluded
	}
	text, ok := p.compared(tag)
	if !ok {
		return ranked{}, excluded
	}
	candidate, ok := p.read(tag, text)
	switch {
	case !ok:
		return ranked{}, skipped
	case p.strategy == bySemver && !p.within.Check(candidate.key.version.semver()):
		return ranked{}, excluded
	default:
		return candidate, accepted
	}
}

// Excludes says whether an exclude of the policy matches a tag.
func (p *Policy) Excludes(tag string) bool {
	for _, expression := range p.exclude {
		if expression.MatchString(tag) {
			return true
		}
	}
	return false
}

// compared returns the part of a tag that the policy compares; false when the
// tag does not match.
func (p *Policy) compared(tag string) (string, bool) {
	if p.filter == nil {
		return tag, true
	}
	group := p.filter.SubexpIndex(versionGroup)
	if group < 0 {
		return tag, p.filter.MatchString(tag)
	}
	at := p.filter.FindStringSubmatchIndex(tag)
	if at == nil || at[2*group] < 0 {
		return "", false
	}
	return tag[at[2*group]:at[2*group+1]], true
}

// key is what candidates are ordered by; one field is set, by strategy.
type key struct {
	version version
	number  number
}

// read makes the key of the compared text.
func (p *Policy) read(tag, text string) (ranked, bool) {
	candidate, ok := ranked{Candidate: Candidate{Tag: tag, Version: text}}, text != ""
	switch p.strategy {
	case bySemver:
		candidate.Version = plusForUnderscore(text)
		candidate.key.version, ok = parseVersion(candidate.Version, p.filter != nil)
	case byNumeric:
		candidate.key.number, ok = parseNumber(text)
	}
	return candidate, ok
}

// compareRanked orders by key, then by tag. Of two tags that say the same the
// one that comes first in the alphabet is the better, so v1.2.0 is worse than
// 1.2.0.
func (p *Policy) compareRanked(a, b ranked) int {
	var order int
	switch p.strategy {
	case bySemver:
		order = a.key.version.compare(b.key.version)
	case byNumeric:
		order = a.key.number.compare(b.key.number)
	default:
		order = cmp.Compare(a.Version, b.Version)
	}
	return cmp.Or(order, cmp.Compare(b.Tag, a.Tag))
}

// Compare says which of two versions is newer: positive when a is. It is false
// when the policy cannot tell, as for a moving tag, whose publisher decides.
// Newest compares the created times where both are known, and then the tags. The
// range and the excludes play no part, so that a version that they no longer
// allow can still be told to be newer.
func (p *Policy) Compare(a, b Version) (int, bool) {
	switch p.strategy {
	case byTag, byRelease:
		return 0, false
	case byNewest:
		if !KnownCreated(a.Created) || !KnownCreated(b.Created) {
			return 0, false
		}
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Tag, b.Tag)), true
	}
	left, ok := p.place(a.Tag)
	if !ok {
		return 0, false
	}
	right, ok := p.place(b.Tag)
	if !ok {
		return 0, false
	}
	return p.compareRanked(left, right), true
}

// place reads a tag for comparing alone.
func (p *Policy) place(tag string) (ranked, bool) {
	text, ok := p.compared(tag)
	if !ok || tag == "" {
		return ranked{}, false
	}
	return p.read(tag, text)
}
