package image

import (
	"cmp"
	"strings"
)

// number is a decimal of any length, without sign: digits, and digits after a
// dot. The zero value is zero.
type number struct {
	whole    string // without zeros in front
	fraction string // without zeros at the end
}

// parseNumber reads digits with at most one dot between them. A sign is refused,
// because what stands before the digits of a tag is a separator.
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
