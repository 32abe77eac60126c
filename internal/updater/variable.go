package updater

import "strings"

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

// shorten cuts outside text to a length that fits a reason.
func shorten(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
