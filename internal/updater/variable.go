package updater

import (
	"regexp"
	"strings"
	"unicode"
)

// variableStart returns the offset of the first placeholder: ${…}, $(…) or
// {{…}}. Without one it returns the length of the text.
func variableStart(s string) int {
	start := len(s)
	for _, opening := range []string{"${", "$(", "{{"} {
		if at := strings.Index(s, opening); at >= 0 {
			start = min(start, at)
		}
	}
	return start
}

// defaulted matches a variable with a default, as in Compose and Flux, before a
// name: ${REGISTRY:-quay.io}/ or ${REGISTRY:=quay.io}/.
var defaulted = regexp.MustCompile(`^\$\{\w+:?[-=]([^${}]*)\}`)

// fillRegistry replaces a variable at the start of a reference with its
// default.
func fillRegistry(s string) string {
	if match := defaulted.FindStringSubmatch(s); match != nil {
		return match[1] + s[len(match[0]):]
	}
	return s
}

// isVariable reports whether the text contains a placeholder.
func isVariable(s string) bool { return variableStart(s) < len(s) }

// shorten makes untrusted text suitable for a reason: truncated, on one line,
// and without control characters.
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
