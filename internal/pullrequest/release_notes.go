package pullrequest

import (
	"regexp"
	"strings"

	"promoter/internal/scm"
)

// Bounds of the release notes of one component.
const (
	maxNoteLines = 40
	maxNoteRunes = 4000
)

var (
	noteHeading = regexp.MustCompile(`^#{1,6}\s+(.*)$`)
	noteItem    = regexp.MustCompile(`^[*+-]\s+(.*)$`)
)

// writeRelease writes the notes of a release, as a quotation without any markup except
// headings and lists.
func writeRelease(b *markdown, release scm.Release, fold bool) {
	link := compareLink(release.URL)
	quoted := quoteNotes(release.Notes)
	switch {
	case release.Tag == "" || link == "":
	case quoted == "":
		b.paragraph("Release " + code(release.Tag) + " has no notes ([release](" + link + ")).")
	case fold:
		b.fold(`Release notes of <a href="`+strings.ReplaceAll(link, "&", "&amp;")+`">`+html(release.Tag)+"</a>", quoted)
	default:
		b.paragraph("Release notes of " + code(release.Tag) + " ([release](" + link + ")):")
		b.line(quoted)
	}
}

// quoteNotes sanitizes the lines of release notes. A quotation, because a line that begins
// with a slash is a command on some forges.
func quoteNotes(notes string) string {
	var lines []string
	runes, cut := 0, false
	for line := range strings.Lines(notes) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "<!--") || line != "" && strings.Trim(line, "-=_*~|: ") == "" {
			continue // comments, and rules, which would make headings of what is above them
		}
		if line == "" && (len(lines) == 0 || lines[len(lines)-1] == ">") {
			continue
		}
		if heading := noteHeading.FindStringSubmatch(line); heading != nil {
			line = "**" + Sanitize(heading[1]) + "**"
		} else if item := noteItem.FindStringSubmatch(line); item != nil {
			line = "- " + Sanitize(item[1])
		} else {
			line = Sanitize(line)
		}
		if runes += len([]rune(line)); runes > maxNoteRunes || len(lines) == maxNoteLines {
			cut = true
			break
		}
		lines = append(lines, strings.TrimSpace("> "+line))
	}
	for len(lines) > 0 && lines[len(lines)-1] == ">" {
		lines = lines[:len(lines)-1]
	}
	if cut {
		lines = append(lines, ">", "> *The rest is on the page of the release.*")
	}
	return strings.Join(lines, "\n")
}
