package pullrequest

import (
	"regexp"
	"strings"

	"promoter/internal/printable"
)

// Text from outside, such as titles of commits and names of tags, is sanitized
// before it is shown: it mentions no user, references nothing, ends no comment,
// and starts no markup. Every user who can push to a source repository or a
// registry can write such text.

// zeroWidthSpace breaks up what a forge would interpret.
const zeroWidthSpace = "\u200b"

const (
	maxName   = 120 // runes of a name or a title
	maxReason = 600 // runes of a message that contains some
)

// Sanitize returns a message without any markup.
func Sanitize(text string) string { return markup.Replace(escape(text, maxReason)) }

var markup = strings.NewReplacer(
	`\`, `\\`, "`", "'", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "|", `\|`,
	"<", "&lt;", "&", "&amp;", "://", ":/"+zeroWidthSpace+"/", "www.", "www"+zeroWidthSpace+".",
)

// escape makes one line of a text in which no forge finds a mention, a reference,
// or the end of a comment.
func escape(text string, limit int) string {
	return references.ReplaceAllString(signs.Replace(printable.ShortLine(text, limit)), "$1"+zeroWidthSpace+"$2")
}

// signs breaks "<!" and not "<!--", which in "<!-->" would hide the end of a comment from
// the replacer.
var signs = strings.NewReplacer(
	"@", "@"+zeroWidthSpace, "#", "#"+zeroWidthSpace, "-->", "--"+zeroWidthSpace+">", "<!", "<"+zeroWidthSpace+"!",
)

// references are the references of GitLab, and those of GitHub with GH-.
// https://docs.gitlab.com/user/markdown/#gitlab-specific-references
// https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
var references = regexp.MustCompile(`([!$%&]|(?i:\bgh-))([0-9])`)

// code returns a text from outside as a code span, which has no markup. Backticks
// become apostrophes.
func code(text string) string {
	text = strings.ReplaceAll(escape(text, maxName), "`", "'")
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// cell returns a code span for a table, in which a bar would end the cell.
func cell(text string) string { return strings.ReplaceAll(code(text), "|", `\|`) }

// html returns a text from outside for HTML, where no Markdown is read.
func html(text string) string {
	return "<code>" + htmlSigns.Replace(escape(text, maxName)) + "</code>"
}

var htmlSigns = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "'")
