package image

import (
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Intersect returns a range of the versions that are in both. An empty range is any version.
func Intersect(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	var both []string
	for one := range strings.SplitSeq(a, "||") {
		for other := range strings.SplitSeq(b, "||") {
			if part, empty := simplify(strings.TrimSpace(one) + " " + strings.TrimSpace(other)); !empty {
				both = append(both, part)
			}
		}
	}
	if len(both) == 0 {
		return "<0" // nothing is in both
	}
	return strings.Join(both, " || ")
}

// simplify returns the highest lower and the lowest upper bound of a range, if it has
// nothing else, and whether no version can be within.
func simplify(constraint string) (simple string, empty bool) {
	var low, high *semver.Version
	lowText, highText := "", ""
	for part := range strings.FieldsSeq(constraint) {
		text, isLow := strings.CutPrefix(part, ">=")
		if !isLow {
			text = strings.TrimPrefix(part, "<")
		}
		version, err := semver.NewVersion(text)
		switch {
		case err != nil || text == part || version.Prerelease() != "":
			return constraint, false
		case isLow && (low == nil || version.GreaterThan(low)):
			low, lowText = version, part
		case !isLow && (high == nil || version.LessThan(high)):
			high, highText = version, part
		}
	}
	if low != nil && high != nil && !low.LessThan(high) {
		return "", true
	}
	return strings.TrimSpace(lowText + " " + highText), false
}
