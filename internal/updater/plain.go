package updater

import (
	"regexp"
	"strings"
)

// Plain scalars that a reader of YAML 1.1 or 1.2 does not take for text. Sources:
// the types of YAML 1.1 (bool, int, float, null, timestamp, merge, value) as
// PyYAML reads them, the core schema of YAML 1.2, and Go's reader, which takes
// underscores in all numbers.
var (
	numberLike = regexp.MustCompile(`^[-+]?(0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|` +
		`[0-9][0-9_]*(:[0-9_]+)*(\.[0-9_]*)?([eE][-+]?[0-9_]+)?|` +
		`\.[0-9_]+([eE][-+]?[0-9_]+)?|\.(inf|Inf|INF))$`)
	dateLike = regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?$`)
)

// plainIsText says whether every reader takes the plain scalar for text.
func plainIsText(s string) bool {
	switch strings.ToLower(s) {
	case "", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "=", ".nan":
		return false
	}
	return !numberLike.MatchString(s) && !dateLike.MatchString(s)
}

// plainIsSafe says whether the text may stand plain anywhere: in block and flow
// context, as a value of a mapping. It allows what references, tags, digests
// and options are made of, and no more.
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

// plainStaysSafe says whether the new text may stand plain where the old one did:
// both start and end alike, and what is new between has safe letters only.
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
