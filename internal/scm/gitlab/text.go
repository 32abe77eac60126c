package gitlab

import (
	"regexp"
	"strings"

	"promoter/internal/scm/rest"
)

// GitLab's limits in characters.
const (
	maxTitle  = 255
	maxBody   = 1_000_000 // of a note; a description takes 1,048,576
	maxLabel  = 255
	maxStatus = 255 // of a status: its name, its text and its address
)

const cutWords = "\n\n… cut here: GitLab takes no longer text."

// draftPrefix makes a draft of a merge request. Being one is no property of its own.
// https://docs.gitlab.com/user/project/merge_requests/drafts/
const draftPrefix = "Draft: "

// draftWords are the beginnings of a title by which GitLab knows a draft.
var draftWords = regexp.MustCompile(`(?i)^(draft:|\[draft\]|\(draft\))\s*`)

// titleOf is what GitLab is sent for a title.
func titleOf(title string, draft bool) string {
	if draft {
		title = draftPrefix + title
	}
	return rest.Shorten(title, maxTitle, "…")
}

// bareTitle is the title without what makes it a draft.
func bareTitle(title string) string {
	if bare := draftWords.ReplaceAllString(title, ""); bare != "" {
		return bare
	}
	return title
}

// command is the beginning of a quick action: GitLab obeys lines like /close in
// what our account writes. Tame is the same line with what makes it text.
// https://docs.gitlab.com/user/project/quick_actions/
var (
	command = regexp.MustCompile(`(?m)^/([a-zA-Z])`)
	tame    = regexp.MustCompile(`(?m)^\\/([a-zA-Z])`)
)

// bodyOf is what GitLab is sent for a text: nothing in it is obeyed. GitLab takes
// carriage returns out before it looks for commands, so that none may hide one.
func bodyOf(text string) string {
	text = strings.ReplaceAll(text, "\r", "")
	return rest.Shorten(command.ReplaceAllString(text, `\/$1`), maxBody, cutWords)
}

// textOf is the text that bodyOf was given.
func textOf(body string) string { return tame.ReplaceAllString(body, `/$1`) }

// labelsOf is how GitLab takes labels. A comma ends one, so that none can hold it.
func labelsOf(names []string) []string {
	labels := make([]string, len(names))
	for i, name := range names {
		labels[i] = strings.TrimSpace(rest.CutRunes(strings.ReplaceAll(name, ",", " "), maxLabel))
	}
	return labels
}
