package pullrequest

import (
	"regexp"
	"strings"
	"unicode"
)

// What comes from outside is shown harmless: it calls nobody, refers to nothing,
// ends no comment and starts no markup. Titles of commits and names of tags come
// from whoever may push to a source repository or a registry.

// apart stands behind a sign that a forge would act upon. It has no width.
const apart = "\u200b"

// How many runes are shown: of a name or a title, and of words that hold some.
const (
	maxOutside = 120
	maxReason  = 600
)

// disarm makes one line of a text in which no forge finds a mention, a reference
// or the end of a comment.
func disarm(text string, most int) string {
	return references.ReplaceAllString(signs.Replace(oneLine(text, most)), "$1"+apart+"$2")
}

// references are what other forges than GitHub make of numbers behind such a sign, and
// GitHub of those behind GH-.
// https://docs.gitlab.com/user/markdown/#gitlab-specific-references
// https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
var references = regexp.MustCompile(`([!$%&]|(?i:\bgh-))([0-9])`)

// oneLine makes one line of a text, of at most so many runes, in which nothing is
// invisible and nothing changes the direction of writing.
func oneLine(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	return shorten(strings.Join(strings.Fields(text), " "), most)
}

var signs = strings.NewReplacer("@", "@"+apart, "#", "#"+apart, "-->", "--"+apart+">", "<!--", "<!"+apart+"--")

// shorten cuts a text to so many runes.
func shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// code shows a text from outside in a code span, in which there is no markup. A
// span can hold no backtick without a longer fence, so these become apostrophes.
func code(text string) string {
	text = strings.ReplaceAll(disarm(text, maxOutside), "`", "'")
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// cell is a code span in a table, where a bar ends the cell even so.
func cell(text string) string { return strings.ReplaceAll(code(text), "|", `\|`) }

// Sanitize shows words that may hold some from outside, such as a reason, without
// any markup.
func Sanitize(text string) string { return markup.Replace(disarm(text, maxReason)) }

var markup = strings.NewReplacer(
	`\`, `\\`, "`", "'", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "|", `\|`,
	"<", "&lt;", "&", "&amp;", "://", ":/"+apart+"/", "www.", "www"+apart+".",
)
