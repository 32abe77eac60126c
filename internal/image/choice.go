package image

import (
	"regexp"
	"strconv"
	"strings"
)

// SameVersion reports whether two tags are spellings of one version that differ only in a leading v.
func SameVersion(a, b string) bool {
	return a != b && strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v")
}

// Spelled returns which of the spellings of a version has, or has not, the leading v of a tag in
// files; empty: the version itself, or none of them does.
func Spelled(like, version string, spellings []string) string {
	if !startsWithVersion.MatchString(like) || !startsWithVersion.MatchString(version) {
		return ""
	}
	hasV := strings.HasPrefix(like, "v")
	if strings.HasPrefix(version, "v") == hasV {
		return ""
	}
	for _, spelling := range spellings {
		if strings.HasPrefix(spelling, "v") == hasV {
			return spelling
		}
	}
	return ""
}

var startsWithVersion = regexp.MustCompile(`^v?[0-9]`)

// firstCalendarYear is the lowest major version that is taken for a year.
const firstCalendarYear = 1990

// OtherScheme reports whether the versions of two tags are of different schemes, such as 6.13.0 and
// 2021.12.14: by semantic versioning, a year is above every other major version. A tag that the
// policy does not admit shows that a user changed the range for the other scheme.
func (p *Policy) OtherScheme(current, selected string) bool {
	if p.strategy != bySemver || !p.Admits(current) {
		return false
	}
	a, ok := p.read(current)
	b, okToo := p.read(selected)
	isYear := func(v version) bool { return v.numbers[0] >= firstCalendarYear }
	return ok && okToo && isYear(a.version) != isYear(b.version)
}

// LexicalTrap returns a tag that is newer than the selected one if numbers in text count, as rc10
// and rc9 are meant, while the policy compares them as text; empty: there is none.
func (p *Policy) LexicalTrap(selected string, tags []string) string {
	first, ok := p.read(selected)
	if !ok || p.strategy == bySemver && first.version.pre == "" || p.strategy != bySemver && p.strategy != byAlphabetical {
		return ""
	}
	best, trap := first, ""
	for _, tag := range tags {
		other, ok := p.read(tag)
		if !ok || tag == selected || !p.Admits(tag) || p.compareRanked(other, first) > 0 || !sameWords(textOf(first), textOf(other)) {
			continue
		}
		if compareNumbers(textOf(other), textOf(best)) > 0 {
			best, trap = other, tag
		}
	}
	return trap
}

// textOf is what is compared as text. Of semantic versions with equal numbers, it is the prerelease.
func textOf(c ranked) string {
	if c.version.written > 0 {
		return strings.Join(versionNumbers(c.version), ".") + "-" + c.version.pre
	}
	return c.Version
}

var digitRuns = regexp.MustCompile(`[0-9]+`)

// sameWords reports whether two texts differ only in their numbers.
func sameWords(a, b string) bool {
	return digitRuns.ReplaceAllString(a, "#") == digitRuns.ReplaceAllString(b, "#")
}

// compareNumbers compares the numbers of two texts with the same words.
func compareNumbers(a, b string) int {
	left, right := digitRuns.FindAllString(a, -1), digitRuns.FindAllString(b, -1)
	for i := range left {
		x, _ := parseNumber(left[i])
		y, _ := parseNumber(right[i])
		if order := x.compare(y); order != 0 {
			return order
		}
	}
	return 0
}

// versionNumbers returns the first numbers of a version as text.
func versionNumbers(v version) (texts []string) {
	for _, n := range v.numbers {
		texts = append(texts, strconv.FormatUint(n, 10))
	}
	return texts
}
