package updater

import (
	"regexp"
	"strings"
	"unicode"
)

// variableStart returns where the first placeholder starts that something else
// fills in: ${…}, $(…) or {{…}}. Without one it is the text's length.
func variableStart(s string) int {
	start := len(s)
	for _, opening := range []string{"${", "$(", "{{"} {
		if at := strings.Index(s, opening); at >= 0 {
			start = min(start, at)
		}
	}
	return start
}

// defaulted is a variable with a default, as Compose and Flux have them, in front
// of a name: ${REGISTRY:-quay.io}/ or ${REGISTRY:=quay.io}/.
var defaulted = regexp.MustCompile(`^\$\{\w+:?[-=]([^${}]*)\}`)

// fillRegistry puts the default in the place of a variable that starts a
// reference.
func fillRegistry(s string) string {
	if match := defaulted.FindStringSubmatch(s); match != nil {
		return match[1] + s[len(match[0]):]
	}
	return s
}

// isVariable says whether the text holds a placeholder.
func isVariable(s string) bool { return variableStart(s) < len(s) }

// shorten makes outside text fit a reason: cut to a length, on one line, and
// without anything that a terminal would obey.
func shorten(s string) string {
	const most = 120
	cut := len(s) > most
	if cut {
		s = s[:most]
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
	if cut {
		s += "…"
	}
	return s
}
