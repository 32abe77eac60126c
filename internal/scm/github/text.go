package github

import "strings"

// GitHub's limits in characters.
const (
	maxTitle       = 250 // of a pull request; GitHub takes 256
	maxBody        = 65536
	maxLabel       = 50
	maxDescription = 140 // of a status
)

const cutWords = "\n\n… cut here: GitHub takes no longer text."

func cutTitle(title string) string { return shorten(title, maxTitle, "…") }

func cutBody(body string) string { return shorten(body, maxBody, cutWords) }

// shorten cuts a text of more than limit characters and says so at its end.
func shorten(text string, limit int, words string) string {
	if cut := cutRunes(text, limit); cut == text {
		return text
	}
	return cutRunes(text, limit-len([]rune(words))) + words
}

// cutRunes returns the first characters of a text.
func cutRunes(text string, limit int) string {
	count := 0
	for i := range text {
		if count == limit {
			return text[:i]
		}
		count++
	}
	return text
}

// sameText compares texts as people read them: forms of GitHub send line breaks
// of two bytes, and it drops blanks at the end.
func sameText(a, b string) bool {
	return strings.TrimSpace(strings.ReplaceAll(a, "\r\n", "\n")) == strings.TrimSpace(strings.ReplaceAll(b, "\r\n", "\n"))
}
