// Package printable makes text from outside, such as messages of other systems and reasons of
// users, printable in one line, so that it hides nothing in a log, a commit, or a pull request.
package printable

import (
	"fmt"
	"strings"
	"unicode"
)

// Line returns a text in one line, with single spaces, and without invisible characters and
// those that change the direction of writing.
func Line(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)), " ")
}

// ShortLine returns Line of a text, cut to so many runes.
func ShortLine(text string, limit int) string { return Shorten(Line(text), limit) }

// Shorten cuts a text to so many runes.
func Shorten(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

// First joins the first texts with commas, and counts the others after a word: "a, b and 3 more".
func First(texts []string, most int, and string) string {
	if more := len(texts) - most; more > 0 {
		return fmt.Sprintf("%s%s %d more", strings.Join(texts[:most], ", "), and, more)
	}
	return strings.Join(texts, ", ")
}

// Wrap breaks a text at spaces into lines of at most width bytes. Line breaks stay.
func Wrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for _, w := range strings.Fields(paragraph) {
			if line != "" && len(line)+1+len(w) > width {
				lines, line = append(lines, line), w
				continue
			}
			line = strings.TrimPrefix(line+" "+w, " ")
		}
		lines = append(lines, line)
	}
	return lines
}
