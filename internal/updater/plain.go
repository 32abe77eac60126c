package updater

import (
	"regexp"
	"strings"
)

// Plain scalars that a YAML 1.1 or 1.2 parser does not read as text. Sources:
// the YAML 1.1 types (bool, int, float, null, timestamp, merge, value) as
// implemented by PyYAML, the YAML 1.2 core schema, and Go's parser, which
// accepts underscores in all numbers.
var (
	numberLike = regexp.MustCompile(`^[-+]?(0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|` +
		`[0-9][0-9_]*(:[0-9_]+)*(\.[0-9_]*)?([eE][-+]?[0-9_]+)?|` +
		`\.[0-9_]+([eE][-+]?[0-9_]+)?|\.(inf|Inf|INF))$`)
	dateLike = regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?$`)
)

// plainIsText reports whether every parser reads the plain scalar as text.
func plainIsText(s string) bool {
	switch strings.ToLower(s) {
	case "", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "=", ".nan":
		return false
	}
	return !numberLike.MatchString(s) && !dateLike.MatchString(s)
}

// plainIsSafe reports whether the text is valid as a plain scalar in any
// context: in block and flow collections, and as a mapping value. It allows
// only the characters used in references, tags, digests and options.
func plainIsSafe(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '/':
		case i > 0 && strings.IndexByte(".+=@~^-$?&%*!", c) >= 0:
		case c == ':' && i > 0 && i < len(s)-1:
		case c == '-' && i < len(s)-1, c == '.':
		default:
			return false
		}
	}
	return s != "" && s != "---" && s != "..."
}

// plainStaysSafe reports whether the new text is a valid plain scalar where the
// old one was: both have the same start and end, and the new part between
// contains only safe characters.
func plainStaysSafe(old, value string) bool {
	before, after := 0, 0
	for before < len(old) && before < len(value) && old[before] == value[before] {
		before++
	}
	for after < len(old)-before && after < len(value)-before && old[len(old)-1-after] == value[len(value)-1-after] {
		after++
	}
	middle := value[before : len(value)-after]
	return before > 0 && plainIsSafe("a"+middle+"a")
}
