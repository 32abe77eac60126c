package rest

import (
	"regexp"
	"strconv"
	"strings"

	"promoter/internal/outbound"
)

// Shorten truncates a text of more than limit characters and appends words, which
// must be shorter than the limit.
func Shorten(text string, limit int, words string) string {
	if cut := CutRunes(text, limit); cut == text {
		return text
	}
	return CutRunes(text, limit-len([]rune(words))) + words
}

// CutRunes returns the first limit characters of a text.
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

// SameText compares texts ignoring line break style and trailing blanks: web forms of
// forges send CRLF.
func SameText(a, b string) bool {
	return strings.TrimSpace(strings.ReplaceAll(a, "\r\n", "\n")) == strings.TrimSpace(strings.ReplaceAll(b, "\r\n", "\n"))
}

// OneLine makes a forge's message safe to display: bounded and without line breaks.
func OneLine(text string) string {
	if len(text) > 4096 {
		text = text[:4096]
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return outbound.Scrub(strings.Join(lines, "; "))
}

// PullNumber returns the number in the only group of the first pattern that matches a
// commit message; 0 for none.
func PullNumber(message string, patterns ...*regexp.Regexp) int {
	for _, pattern := range patterns {
		if found := pattern.FindStringSubmatch(CutBytes(message, maxMessage)); found != nil {
			number, err := strconv.Atoi(found[1])
			if err == nil {
				return number
			}
		}
	}
	return 0
}

// maxMessage is how many bytes of a commit message are searched.
const maxMessage = 64 << 10

// ReleaseTag reports whether a text can be in the path of a request for a release.
func ReleaseTag(tag string) bool { return len(tag) <= maxReleaseTag && releaseTag.MatchString(tag) }

const maxReleaseTag = 128 // bytes, as of tags of images

var releaseTag = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)

// hexCommit matches a full commit ID, SHA-1 or SHA-256.
var hexCommit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// IsCommit reports whether a text is a full commit ID in hex.
func IsCommit(id string) bool { return hexCommit.MatchString(strings.ToLower(id)) }
