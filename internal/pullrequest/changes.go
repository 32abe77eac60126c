package pullrequest

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scm"
)

const (
	maxCommits  = 30 // listed commits of one component
	maxLink     = 500
	shortCommit = 7 // shown digits of a commit
)

// writeChanges writes what changes: the versions of each component, and the source
// commits between them.
func (p Page) writeChanges(b *markdown) {
	var rows [][]string
	kinds, rewrites := map[image.Update]int{}, 0
	for _, d := range p.Decisions {
		for _, m := range p.movesOf(d) {
			from := promotion.Label(m.From)
			if m.Form == "" && from == promotion.Label(m.To) && m.From.Digest != m.To.Digest {
				from = promotion.ShortDigest(m.From.Digest)
			}
			created := ""
			if image.KnownCreated(m.To.Created) { // a date and no age: the text must not change by itself
				created = m.To.Created.UTC().Format(time.DateOnly)
			}
			rows = append(rows, p.row(cell(d.Application), cell(m.Component), cell(from),
				cell(promotion.Label(m.To)), cell(promotion.ShortDigest(m.To.Digest)), created))
			if m.Form != "" {
				rewrites++
				continue
			}
			kinds[image.UpdateOf(cmp.Or(m.From.Version, m.From.Tag), cmp.Or(m.To.Version, m.To.Tag))]++
		}
	}
	var table markdown
	table.table(p.row("application", "component", "from", "to", "digest", "created"), rows)
	if len(rows) > maxShown {
		b.fold(changesSummary(len(rows), len(p.Decisions), kinds, rewrites), table.String())
	} else {
		b.text.WriteString(table.String())
	}
	p.writeCommits(b)
}

// changesSummary is a line such as "12 components: 1 major, 9 patch, 2 other".
func changesSummary(changes, applications int, kinds map[image.Update]int, rewrites int) string {
	text := fmt.Sprintf("%d components", changes)
	if applications > 1 {
		text = fmt.Sprintf("%d changes in %d applications", changes, applications)
	}
	var parts []string
	for _, kind := range image.Updates() {
		if n := kinds[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if rewrites > 0 {
		parts = append(parts, fmt.Sprintf("%d written in another form", rewrites))
	}
	return text + ": " + strings.Join(parts, ", ")
}

// writeCommits lists the commits between the versions. Those of one component are
// shown if there are few.
func (p Page) writeCommits(b *markdown) {
	type change struct {
		component string
		scm.Comparison
	}
	var changes []change
	written := map[Span]bool{}
	for _, move := range p.moves() {
		span, known := SpanOf(move)
		comparison, found := p.Commits[span]
		if !known || !found || len(comparison.Commits) == 0 || written[span] {
			continue
		}
		written[span] = true
		changes = append(changes, change{move.Component, comparison})
	}
	for _, c := range changes {
		count := "1 commit"
		if n := totalCommits(c.Comparison); n > 1 {
			count = fmt.Sprintf("%d commits", n)
		}
		link := compareLink(c.URL)
		if len(changes) > 1 || len(c.Commits) > maxShown {
			if link != "" {
				link = ` (<a href="` + strings.ReplaceAll(link, "&", "&amp;") + `">compare</a>)`
			}
			b.fold(count+" of "+html(c.component)+link, commitList(c.Comparison))
			continue
		}
		if link != "" {
			link = " ([compare](" + link + "))"
		}
		b.paragraph(count + " of " + code(c.component) + link + ":")
		b.line(commitList(c.Comparison))
	}
}

// commitList lists the commits of a comparison, newest first.
func commitList(comparison scm.Comparison) string {
	var b markdown
	commits := comparison.Commits
	for i := range min(len(commits), maxCommits) {
		commit := commits[len(commits)-1-i]
		title, _, _ := strings.Cut(commit.Message, "\n")
		b.line("- ", code(commit.ID[:min(len(commit.ID), shortCommit)]), " ", code(title))
	}
	if more := totalCommits(comparison) - min(len(commits), maxCommits); more > 0 {
		b.line("- and ", strconv.Itoa(more), " more")
	}
	return b.String()
}

func totalCommits(c scm.Comparison) int { return max(c.Total, len(c.Commits)) }

// compareLink returns the address of a page of the forge, or nothing if it is not safe
// in Markdown and HTML.
func compareLink(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "" || len(address) > maxLink {
		return ""
	}
	unsafe := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("<>()[]\\`\"|*", r) }
	if strings.ContainsFunc(address, unsafe) {
		return ""
	}
	return address
}
