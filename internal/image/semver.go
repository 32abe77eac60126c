package image

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// version is a semantic version, with the tolerance that tags need: a leading v, fewer
// than three numbers, leading zeros.
type version struct {
	numbers  [3]uint64
	extra    []number // numbers after the third, which only a filter permits
	written  int      // how many numbers the text has
	pre      string
	metadata string

	// Of the output of git describe, which is newer than its tag although it is a
	// prerelease by its form: the prerelease of the tag, and the number of commits since.
	// Of other versions: pre, and zero.
	describedPre string
	commits      number
}

// plusForUnderscore returns the version of a tag: tags cannot contain a plus, so Helm
// writes an underscore. In the tag of an image, an underscore is only a character.
// https://helm.sh/docs/topics/registries/#oci-feature-deprecation-and-behavior-changes-with-v380
func plusForUnderscore(text string) string { return strings.Replace(text, "_", "+", 1) }

// maxBareDigits is how long a version of one number may be. A longer one is a date, a
// build number or a commit, and as a major version it would be above every real one.
const maxBareDigits = 4

// describeSuffix is what git describe writes after the numbers of a tag: its prerelease,
// the commits since then, and the hash, which Git abbreviates to four digits and more.
var describeSuffix = regexp.MustCompile(`^(?:(.*)-)?([0-9]+)-g[0-9a-f]{4,}$`)

// parseVersion parses a version. If a filter selected the text, the user has
// declared it a version: one long number and more than three numbers are then
// permitted.
func parseVersion(text string, filtered bool) (version, bool) {
	var v version
	text, metadata, hasMetadata := strings.Cut(strings.TrimPrefix(text, "v"), "+")
	core, pre, hasPre := strings.Cut(text, "-")
	if hasPre && !validIdentifiers(pre) || hasMetadata && !validIdentifiers(metadata) {
		return version{}, false
	}
	v.pre = pre
	v.metadata = metadata
	v.describedPre = pre
	if m := describeSuffix.FindStringSubmatch(pre); m != nil {
		v.describedPre = m[1]
		v.commits, _ = parseNumber(m[2])
	}
	for part := range strings.SplitSeq(core, ".") {
		if !v.add(part) {
			return version{}, false
		}
	}
	if !filtered && (v.written > 3 || v.written == 1 && len(core) > maxBareDigits) {
		return version{}, false
	}
	return v, true
}

// add appends one of the numbers before the prerelease.
func (v *version) add(part string) bool {
	n, ok := parseNumber(part)
	if !ok {
		return false
	}
	if v.written < len(v.numbers) {
		value, err := strconv.ParseUint(part, 10, 64)
		if err != nil {
			return false
		}
		v.numbers[v.written] = value
	} else {
		v.extra = append(v.extra, n)
	}
	v.written++
	return true
}

// validIdentifiers reports whether s is letters, digits and dashes between dots.
func validIdentifiers(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || strings.Contains(part, "_") || !all(part, classTag) {
			return false
		}
	}
	return true
}

// semver converts the version for the check against a range, which supports three
// numbers and no metadata.
func (v version) semver() *semver.Version {
	return semver.New(v.numbers[0], v.numbers[1], v.numbers[2], v.pre, "")
}

// firstYear is the first version of one number that is a year or the number of a build
// if there are dotted versions beside it.
const firstYear = 1000

// bareYear reports whether the version is one number that is not the major version of
// dotted versions.
func (v version) bareYear() bool { return v.written == 1 && v.numbers[0] >= firstYear }

// compare orders by the precedence of https://semver.org, except that the output of git
// describe is newer than its tag. Then it orders by what that leaves open: the version
// with more numbers is greater (1.20.0 over 1.20), then the one without metadata, then the
// one with greater metadata.
func (v version) compare(w version) int {
	for i := range v.numbers {
		if order := cmp.Compare(v.numbers[i], w.numbers[i]); order != 0 {
			return order
		}
	}
	for i := range max(len(v.extra), len(w.extra)) {
		if order := at(v.extra, i).compare(at(w.extra, i)); order != 0 {
			return order
		}
	}
	if order := compareWith(v.describedPre, w.describedPre); order != 0 {
		return order
	}
	if order := v.commits.compare(w.commits); order != 0 {
		return order
	}
	if order := compareWith(v.pre, w.pre); order != 0 {
		return order
	}
	if v.written != w.written {
		return cmp.Compare(v.written, w.written)
	}
	return compareWith(v.metadata, w.metadata)
}

// CompareVersions orders two versions by semantic versioning, with the tolerance of tags: a
// leading v, and fewer than three numbers. It returns false unless both are versions.
func CompareVersions(a, b string) (order int, ok bool) {
	left, isVersion := parseVersion(a, false)
	right, areVersions := parseVersion(b, false)
	if !isVersion || !areVersions {
		return 0, false
	}
	left.written, right.written = 0, 0 // 1.4 and 1.4.0 are the same
	left.metadata, right.metadata = "", ""
	return left.compare(right), true
}

func at(numbers []number, i int) number {
	if i < len(numbers) {
		return numbers[i]
	}
	return number{}
}

// compareWith compares identifiers; none is greater.
func compareWith(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	default:
		return compareIdentifiers(a, b)
	}
}

// compareIdentifiers orders by https://semver.org/#spec-item-11: numbers by value and
// below text, text by bytes, and the longer list is greater.
func compareIdentifiers(a, b string) int {
	for {
		left, restA, moreA := strings.Cut(a, ".")
		right, restB, moreB := strings.Cut(b, ".")
		if order := compareIdentifier(left, right); order != 0 {
			return order
		}
		if !moreA || !moreB {
			return cmp.Compare(len(restA), len(restB))
		}
		a, b = restA, restB
	}
}

func compareIdentifier(a, b string) int {
	x, isX := parseNumber(a)
	y, isY := parseNumber(b)
	switch {
	case isX && isY:
		return x.compare(y)
	case isX:
		return -1
	case isY:
		return 1
	default:
		return cmp.Compare(a, b)
	}
}

// number is a decimal of any length, without sign: digits, and digits after a
// dot. The zero value is zero.
type number struct {
	whole    string // without leading zeros
	fraction string // without trailing zeros
}

// parseNumber parses digits with at most one dot between them. There is no sign: a dash
// before the digits of a tag is a separator.
func parseNumber(s string) (number, bool) {
	whole, fraction, found := strings.Cut(s, ".")
	if whole == "" || !all(whole, classDigit) || !all(fraction, classDigit) || found && fraction == "" {
		return number{}, false
	}
	return number{strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")}, true
}

func (n number) compare(m number) int {
	return cmp.Or(
		cmp.Compare(len(n.whole), len(m.whole)),
		cmp.Compare(n.whole, m.whole),
		cmp.Compare(n.fraction, m.fraction))
}

// Update is how far one semantic version is from another.
type Update string

// The updates. Other is a change of which the versions do not tell more.
const (
	Major     Update = "major"
	Minor     Update = "minor"
	Patch     Update = "patch"
	Downgrade Update = "downgrade"
	Other     Update = "other"
)

// Updates returns all updates, the largest first.
func Updates() []Update { return []Update{Major, Minor, Patch, Downgrade, Other} }

// UpdateOf returns the update from one version to another, as their texts show it.
func UpdateOf(from, to string) Update {
	a, isVersion := parseVersion(plusForUnderscore(from), false)
	b, isVersionToo := parseVersion(plusForUnderscore(to), false)
	switch {
	case !isVersion || !isVersionToo:
		return Other
	case a.compare(b) > 0:
		return Downgrade
	case a.numbers[0] != b.numbers[0]:
		return Major
	case a.numbers[1] != b.numbers[1]:
		return Minor
	case a.numbers[2] != b.numbers[2]:
		return Patch
	default:
		return Other
	}
}
