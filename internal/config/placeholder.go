package config

import (
	"regexp"
	"slices"
	"strings"
)

// placeholderWord is a word in braces. Other braces are text.
var placeholderWord = regexp.MustCompile(`\{([A-Za-z][A-Za-z0-9_.-]*)\}`)

// placeholders refuses words in braces that nothing will replace.
func (l *loader) placeholders(value at[string], key string, allowed ...string) {
	if !value.ok() {
		return
	}
	for _, m := range placeholderWord.FindAllStringSubmatch(value.Value, -1) {
		if slices.Contains(allowed, m[1]) {
			continue
		}
		l.failf(value.Position, didYouMeanPlaceholder(m[1], allowed), "%s has no placeholder {%s}", key, m[1])
	}
}

func didYouMeanPlaceholder(written string, allowed []string) string {
	if best := nearest(written, allowed); best != "" {
		return "did you mean {" + best + "}?"
	}
	return "there are {" + strings.Join(allowed, "}, {") + "}"
}
