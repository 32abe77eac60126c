package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"promoter/internal/checkout"
	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/pullrequest"
)

// The size of a plan as Markdown. GitHub accepts comments of 65,536 characters.
const (
	maxMarkdownRows = 50     // of at most 700 characters each
	maxMarkdownDiff = 20_000 // bytes
)

// renderMarkdown prints a comment for a pull request: what is proposed or failed as a table, and
// the diff. Names and reasons come from files of the pull request, so they have no markup.
func renderMarkdown(w io.Writer, preview *checkout.Preview) error {
	var b strings.Builder
	b.WriteString("### Plan of promoter\n\n")
	applications, files, changes := preview.Count()
	if applications == 0 {
		b.WriteString("Nothing to change.\n")
	} else {
		fmt.Fprintf(&b, "%s in %s for %s.\n", Count(changes, "change", "changes"), Count(files, "file", "files"),
			Count(applications, "application", "applications"))
	}
	var rows []string
	for _, e := range summarize(preview) {
		for _, target := range e.Targets {
			application := target.Application
			if application == config.DefaultApplication {
				application = ""
			}
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", pullrequest.Sanitize(e.Name), pullrequest.Sanitize(application),
				target.State, pullrequest.Sanitize(target.Reason)))
		}
	}
	if len(rows) > 0 {
		b.WriteString("\n| environment | application | state | reason |\n|---|---|---|---|\n")
		b.WriteString(strings.Join(rows[:min(len(rows), maxMarkdownRows)], ""))
	}
	if more := len(rows) - maxMarkdownRows; more > 0 {
		fmt.Fprintf(&b, "\nAnd %d more.\n", more)
	}
	for i, failed := range preview.Errors {
		if i == maxListed {
			fmt.Fprintf(&b, "\nAnd %s.\n", Count(len(preview.Errors)-i, "more error", "more errors"))
			break
		}
		fmt.Fprintf(&b, "\n**Error** of %s: %s\n", pullrequest.Sanitize(failed.Component), pullrequest.Sanitize(failed.Err.Error()))
	}
	b.WriteString(markdownMentions(preview))
	b.WriteString(markdownDiff(preview))
	return Write(w, b.String())
}

// markdownMentions lists the texts that the changes leave unchanged, without those in prose.
func markdownMentions(preview *checkout.Preview) string {
	var all edit.Mentions
	for i := range preview.Targets {
		mentions := preview.Targets[i].Mentions
		mentions.Listed = slices.DeleteFunc(slices.Clone(mentions.Listed), func(m edit.Mention) bool {
			return m.Prose || m.Refused || slices.Contains(all.Listed, m)
		})
		all.Add(mentions)
	}
	if len(all.Listed) == 0 {
		return ""
	}
	shown := min(len(all.Listed), maxListed)
	text := "\nNot changed:\n\n"
	for _, m := range all.Listed[:shown] {
		text += "- " + pullrequest.Sanitize(m.String()) + "\n"
	}
	if more := len(all.Listed) - shown + all.More; more > 0 {
		text += fmt.Sprintf("- and %d more\n", more)
	}
	return text
}

// markdownDiff returns the diff, folded, up to the last whole file that fits.
func markdownDiff(preview *checkout.Preview) string {
	var diff strings.Builder
	left := 0 // targets whose diff does not fit
	for i := range preview.Targets {
		target := &preview.Targets[i]
		if !target.Changed() {
			continue
		}
		text := strings.ToValidUTF8(diffRenderer{visible: true}.target(target), "\uFFFD")
		if diff.Len()+len(text) > maxMarkdownDiff {
			left++
			continue
		}
		diff.WriteString(text)
	}
	if diff.Len() == 0 && left == 0 {
		return ""
	}
	fence := "```"
	for strings.Contains(diff.String(), fence) {
		fence += "`"
	}
	block := fmt.Sprintf("\n<details><summary>Diff</summary>\n\n%sdiff\n%s%s\n\n</details>\n", fence, diff.String(), fence)
	if left > 0 {
		applications := Count(left, "application", "applications")
		block += fmt.Sprintf("\nThe diff of %s is too long: `promoter plan -o diff` prints it.\n", applications)
	}
	return block
}
