package gitlab

import (
	"regexp"
	"strings"

	"promoter/internal/scm/rest"
)

// GitLab's limits in characters.
const (
	maxTitle  = 255
	maxBody   = 1_000_000 // of a note; a description allows 1,048,576
	maxLabel  = 255
	maxStatus = 255 // of a status: its name, description and URL
)

const cutWords = "\n\n… cut here: GitLab takes no longer text."

// draftPrefix marks a merge request as a draft, which is not a separate property.
// https://docs.gitlab.com/user/project/merge_requests/drafts/
const draftPrefix = "Draft: "

// draftWords matches the title prefixes by which GitLab recognizes a draft.
var draftWords = regexp.MustCompile(`(?i)^(draft:|\[draft\]|\(draft\))\s*`)

// titleOf returns the title to send to GitLab.
func titleOf(title string, draft bool) string {
	if draft {
		title = draftPrefix + title
	}
	return rest.Shorten(title, maxTitle, "…")
}

// bareTitle returns the title without the draft prefix.
func bareTitle(title string) string {
	if bare := draftWords.ReplaceAllString(title, ""); bare != "" {
		return bare
	}
	return title
}

// command matches the start of a quick action: GitLab executes lines like /close in
// comments of our account. Tame matches the same line after escaping.
// https://docs.gitlab.com/user/project/quick_actions/
var (
	command = regexp.MustCompile(`(?m)^/([a-zA-Z])`)
	tame    = regexp.MustCompile(`(?m)^\\/([a-zA-Z])`)
)

// bodyOf returns the text to send to GitLab, with quick actions escaped. GitLab
// removes carriage returns before it looks for commands, so they cannot hide one.
func bodyOf(text string) string {
	text = strings.ReplaceAll(text, "\r", "")
	return rest.Shorten(command.ReplaceAllString(text, `\/$1`), maxBody, cutWords)
}

// textOf is the inverse of bodyOf.
func textOf(body string) string { return tame.ReplaceAllString(body, `/$1`) }

// labelsOf returns labels in GitLab's form. A comma separates labels, so a label
// cannot contain one.
func labelsOf(names []string) []string {
	labels := make([]string, len(names))
	for i, name := range names {
		labels[i] = strings.TrimSpace(rest.CutRunes(strings.ReplaceAll(name, ",", " "), maxLabel))
	}
	return labels
}
