package rest

import (
	"regexp"
	"strings"

	"promoter/internal/outbound"
)

// Shorten cuts a text of more than limit characters and says so at its end, in
// words that are shorter than the limit.
func Shorten(text string, limit int, words string) string {
	if cut := CutRunes(text, limit); cut == text {
		return text
	}
	return CutRunes(text, limit-len([]rune(words))) + words
}

// CutRunes returns the first characters of a text.
func CutRunes(text string, limit int) string {
	count := 0
	for i := range text {
		if count == limit {
			return text[:i]
		}
		count++
	}
	return text
}

// SameText compares texts as people read them: forms of forges send line breaks
// of two bytes, and blanks at the end are dropped.
func SameText(a, b string) bool {
	return strings.TrimSpace(strings.ReplaceAll(a, "\r\n", "\n")) == strings.TrimSpace(strings.ReplaceAll(b, "\r\n", "\n"))
}

// OneLine makes words of a forge safe to show, bounded and without line breaks.
func OneLine(text string) string {
	if len(text) > 4096 {
		text = text[:4096]
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return outbound.Scrub(strings.Join(lines, "; "))
}

// hexCommit is a commit's whole id, in SHA-1 or SHA-256.
var hexCommit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// IsCommit says whether a text is a commit's whole id in hex.
func IsCommit(id string) bool { return hexCommit.MatchString(strings.ToLower(id)) }
