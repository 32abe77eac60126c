package image

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// bound is a version in the text of a range: up to three numbers or wildcards, and a
// prerelease.
var bound = regexp.MustCompile(`([0-9]+|[xX*])(?:\.([0-9]+|[xX*]))?(?:\.([0-9]+|[xX*]))?(?:-([0-9A-Za-z.-]+))?`)

// maxSamples bounds the versions that a range is checked with. Longer ranges are not checked.
const maxSamples = 2000

// matchesNothing reports whether no version is in a range. If there is any, then also the
// lowest one of a part of the range, which is a version in its text or follows such a one.
func matchesNothing(within *semver.Constraints, text string) bool {
	numbers, prereleases, known := samples(text)
	return known && !slices.ContainsFunc(numbers, func(v [3]uint64) bool {
		return slices.ContainsFunc(prereleases, func(pre string) bool {
			return within.Check(semver.New(v[0], v[1], v[2], pre, ""))
		})
	})
}

// samples returns the numbers of the versions in the text of a range, and of those that follow
// them, and the prereleases that they may have. It returns false for a range that is too long.
func samples(text string) (numbers [][3]uint64, prereleases []string, known bool) {
	numbers, prereleases = [][3]uint64{{}}, []string{"", "0"}
	for _, found := range bound.FindAllStringSubmatch(text, -1) {
		var v [3]uint64
		for i, part := range found[1 : 1+len(v)] {
			if part == "" || strings.Contains("xX*", part) {
				continue
			}
			n, err := strconv.ParseUint(part, 10, 63)
			if err != nil {
				return nil, nil, false
			}
			v[i] = n
		}
		numbers = append(numbers, v, [3]uint64{v[0], v[1], v[2] + 1}, [3]uint64{v[0], v[1] + 1}, [3]uint64{v[0] + 1})
		if pre := found[len(found)-1]; pre != "" {
			prereleases = append(prereleases, pre, pre+".0")
		}
	}
	return numbers, prereleases, len(numbers)*len(prereleases) <= maxSamples
}

// part is one alternative of a range, with its upper bounds.
type part struct {
	within *semver.Constraints
	below  [][3]uint64 // bounds that are not in the range and name no prerelease
}

// upperBound matches a bound such as <2, and its prerelease.
var upperBound = regexp.MustCompile(`<[ \t]*v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(-[0-9A-Za-z.-]+)?`)

// partsOf returns the parts of a range; nil: it has no upper bound that could exclude prereleases.
func partsOf(text string) (parts []part) {
	bounded := false
	for alternative := range strings.SplitSeq(text, "||") {
		within, err := semver.NewConstraint(alternative)
		if err != nil {
			return nil
		}
		one := part{within: within}
		for _, found := range upperBound.FindAllStringSubmatch(alternative, -1) {
			if found[4] != "" {
				continue
			}
			var v [3]uint64
			for i := range v {
				v[i], _ = strconv.ParseUint("0"+found[i+1], 10, 63) // too large a number bounds nothing
			}
			one.below, bounded = append(one.below, v), true
		}
		parts = append(parts, one)
	}
	if !bounded {
		return nil
	}
	return parts
}

// inRange reports whether a version is in the range of a policy. 2.0.0-rc.1 is below 2.0.0 in
// their order, but it is a version of 2.0.0: an upper bound excludes its own prereleases.
func (p *Policy) inRange(v version) bool {
	if !p.within.Check(v.semver()) {
		return false
	}
	return v.pre == "" || len(p.parts) == 0 || slices.ContainsFunc(p.parts, func(one part) bool {
		return !slices.Contains(one.below, v.numbers) && one.within.Check(v.semver())
	})
}
