// Package glob matches names and paths against wildcards. It is the only matcher of
// promoter: * stands for any text within a segment, ** for any number of segments,
// and every other character for itself.
package glob

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Match reports whether a name of segments between slashes matches a pattern. As in
// shells, ** must be alone between slashes to match several segments. Text that is not
// UTF-8 matches nothing, because the library takes all invalid bytes for one character.
func Match(pattern, name string) bool {
	return utf8.ValidString(pattern) && utf8.ValidString(name) && doublestar.MatchUnvalidated(literal.Replace(pattern), name)
}

// MatchName reports whether a name matches a pattern in which * also matches slashes,
// as in names of commit statuses.
func MatchName(pattern, name string) bool {
	return Match(withoutSegments.Replace(pattern), withoutSegments.Replace(name))
}

// MatchAnyName reports whether a name matches one of the patterns.
func MatchAnyName(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return MatchName(pattern, name) })
}

// NamesOverlap reports whether some name matches both patterns of MatchName. Only the
// ends decide when both have a wildcard: the text between can always be made up.
func NamesOverlap(a, b string) bool {
	switch {
	case !strings.Contains(a, "*"):
		return MatchName(b, a)
	case !strings.Contains(b, "*"):
		return MatchName(a, b)
	}
	aStart, bStart := a[:strings.Index(a, "*")], b[:strings.Index(b, "*")]
	aEnd, bEnd := a[strings.LastIndex(a, "*")+1:], b[strings.LastIndex(b, "*")+1:]
	return (strings.HasPrefix(aStart, bStart) || strings.HasPrefix(bStart, aStart)) &&
		(strings.HasSuffix(aEnd, bEnd) || strings.HasSuffix(bEnd, aEnd))
}

var (
	// literal escapes what only the library treats as special.
	literal = strings.NewReplacer(`\`, `\\`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)
	// withoutSegments makes one segment of a name.
	withoutSegments = strings.NewReplacer("/", "\x00")
)
