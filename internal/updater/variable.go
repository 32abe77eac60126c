package updater

import (
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
