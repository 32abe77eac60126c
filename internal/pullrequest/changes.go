package pullrequest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scm"
)

const (
	maxCommits  = 30 // listed commits of one component
	maxLink     = 500
	maxDetails  = 24_000 // runes of the details of all components, so that the rest fits
	shortCommit = 7      // shown digits of a commit
)

// writeChanges writes what changes: the versions of each component, and what is known about
// the change from one to the other. With more than one component, the details of each are
// folded under one line.
func (p Page) writeChanges(b *markdown) {
	b.line(changesMark(p))
	var rows [][]string
	kinds, rewrites := map[image.Update]int{}, 0
	for _, d := range p.Decisions {
		for _, m := range p.movesOf(d) {
			from := promotion.Label(m.From)
			if m.Form == "" && from == promotion.Label(m.To) && m.From.Digest != m.To.Digest {
				from = promotion.ShortDigest(m.From.Digest)
			}
			created := m.To.Created
			if !image.KnownCreated(created) {
				created = p.Changes[KeyOf(m)].To.Created
			}
			shown := ""
			if image.KnownCreated(created) { // a date and no age: the text must not change by itself
				shown = created.UTC().Format(time.DateOnly)
			}
			rows = append(rows, p.row(cell(d.Application), cell(m.Component), cell(from),
				cell(promotion.Label(m.To)), cell(promotion.ShortDigest(m.To.Digest)), shown))
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
	p.writeDetails(b)
	b.line(changesEnd, "\n")
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

// writeDetails writes what is known about each change, each once.
func (p Page) writeDetails(b *markdown) {
	var moves []promotion.Move
	seen := map[ChangeKey]bool{}
	for _, m := range p.Moves() {
		if _, known := p.Changes[KeyOf(m)]; known && !seen[KeyOf(m)] {
			moves = append(moves, m)
		}
		seen[KeyOf(m)] = true
	}
	left, omitted := maxDetails, 0
	for _, m := range moves {
		change := p.Changes[KeyOf(m)]
		if len(p.Decisions) > 1 {
			change.Others = nil // they are those of one application
		}
		var details markdown
		if len(seen) > 1 {
			details.fold(change.summary(m.Component), change.details(m, false))
		} else {
			details.text.WriteString(change.details(m, true))
		}
		left -= utf8.RuneCountInString(details.String())
		if left < 0 {
			omitted++
			continue
		}
		b.text.WriteString(details.String())
	}
	if omitted > 0 {
		b.paragraph(fmt.Sprintf("The details of %d components are left out: they exceed the size of this section.", omitted))
	}
}

// summary is the line under which the details of a component are folded, in HTML.
func (c Change) summary(component string) string {
	var parts []string
	switch n := totalCommits(c.Source.Comparison); {
	case c.Unknown() != "":
		parts = append(parts, "commits unknown")
	case n > 0:
		parts = append(parts, c.count())
	case c.sameCommit():
		parts = append(parts, "the same source commit")
	}
	if len(parts) > 0 {
		parts[0] += c.compareHTML()
	}
	if c.Source.Release.URL != "" {
		parts = append(parts, "release notes")
	}
	if size := c.sizeDifference(); size != "" {
		parts = append(parts, size)
	}
	if added, removed := c.platforms(); len(added)+len(removed) > 0 {
		parts = append(parts, "other platforms")
	}
	for _, other := range c.Others[:min(len(c.Others), 1)] {
		parts = append(parts, "already in "+html(other.Environment)+other.since())
	}
	if len(parts) == 0 {
		return html(component)
	}
	return html(component) + ": " + strings.Join(parts, ", ")
}

// details is what is known about a change, beside its versions. What is long is folded if
// it may be.
func (c Change) details(m promotion.Move, fold bool) string {
	var b markdown
	b.paragraph(c.facts())
	link := compareLink(c.Source.Comparison.URL)
	if link != "" {
		link = " ([compare](" + link + "))"
	}
	switch {
	case c.Unknown() != "":
		b.paragraph("Commits unknown" + link + ": " + Sanitize(c.Unknown()) + ".")
	case c.sameCommit():
		b.paragraph("Both are built from the commit " + code(c.To.Revision[:min(len(c.To.Revision), shortCommit)]) + ".")
	case len(c.Source.Commits) > maxShown && fold:
		b.fold(c.count()+" of "+html(m.Component)+c.compareHTML(), commitList(c.Source.Comparison))
	case len(c.Source.Commits) > 0:
		b.paragraph(c.count() + " of " + code(m.Component) + link + ":")
		b.line(commitList(c.Source.Comparison))
	case c.To.Revision != "" && c.From.Revision != "":
		b.paragraph("No commits between both versions" + link + ".")
	}
	writeRelease(&b, c.Source.Release, fold)
	return b.String()
}

// compareHTML is a link to the page that compares the commits, after a space.
func (c Change) compareHTML() string {
	link := compareLink(c.Source.Comparison.URL)
	if link == "" {
		return ""
	}
	return ` (<a href="` + strings.ReplaceAll(link, "&", "&amp;") + `">compare</a>)`
}

// facts are sentences about the image.
func (c Change) facts() string {
	var facts []string
	if c.To.Size > 0 {
		size := "Size: " + mebibytes(c.To.Size)
		if c.To.Platform != "" {
			size += " for " + code(c.To.Platform)
		}
		if difference := c.sizeDifference(); difference != "" {
			size += ", " + difference
		}
		facts = append(facts, size+".")
	}
	added, removed := c.platforms()
	if len(added) > 0 {
		facts = append(facts, "Platforms added: "+firstOf(added)+".")
	}
	if len(removed) > 0 {
		facts = append(facts, "Platforms removed: "+firstOf(removed)+".")
	}
	if len(c.Others) > 0 {
		var others []string
		for _, other := range c.Others {
			others = append(others, code(other.Environment)+other.since())
		}
		facts = append(facts, "Already in "+firstOf(others)+".")
	}
	return strings.Join(facts, " ")
}

// sizeDifference is how much the image grew or shrank, for the same platform.
func (c Change) sizeDifference() string {
	if c.From.Size == 0 || c.To.Size == 0 || c.From.Platform != c.To.Platform {
		return ""
	}
	switch difference := c.To.Size - c.From.Size; {
	case difference == 0:
		return "" // mostly the same layers
	case difference > 0:
		return mebibytes(difference) + " more"
	default:
		return mebibytes(-difference) + " less"
	}
}

// mebibytes formats a size; one that is less than it can show, as less than that.
func mebibytes(bytes int64) string {
	const mebibyte = 1 << 20
	if bytes < mebibyte/10 {
		return "less than 0.1 MiB"
	}
	return strconv.FormatFloat(float64(bytes)/mebibyte, 'f', 1, 64) + " MiB"
}

// platforms returns those that only one of the images has, as code.
func (c Change) platforms() (added, removed []string) {
	if len(c.From.Platforms) == 0 || len(c.To.Platforms) == 0 {
		return nil, nil
	}
	only := func(some, others []string) (all []string) {
		for _, platform := range some {
			if !slices.Contains(others, platform) {
				all = append(all, code(platform))
			}
		}
		return all
	}
	return only(c.To.Platforms, c.From.Platforms), only(c.From.Platforms, c.To.Platforms)
}

// since is when and by which pull request a version came there; empty if unknown.
func (p Other) since() string {
	text := ""
	if !p.Since.IsZero() {
		text = " since " + p.Since.UTC().Format(time.DateOnly)
	}
	if p.PullRequest != "" {
		text += " (" + p.PullRequest + ")"
	}
	return text
}

// count is such as "7 commits", or "Reverts 7 commits".
func (c Change) count() string {
	count := "1 commit"
	if n := totalCommits(c.Source.Comparison); n > 1 {
		count = fmt.Sprintf("%d commits", n)
	}
	if c.Source.Removes {
		return "Reverts " + count
	}
	return count
}

// commitList lists the commits of a comparison, newest first.
func commitList(comparison scm.Comparison) string {
	var b markdown
	commits := comparison.Commits
	newest := commits[max(len(commits)-maxCommits, 0):]
	for _, commit := range slices.Backward(newest) {
		title, _, _ := strings.Cut(commit.Message, "\n")
		by, pull := code(commit.Author), ""
		if by != "" {
			by = " by " + by
		}
		if link := compareLink(withoutReference(commit.PullRequest.URL)); link != "" && commit.PullRequest.Number > 0 {
			pull = fmt.Sprintf(" ([pull request %d](%s))", commit.PullRequest.Number, link)
		}
		b.line("- ", code(commit.ID[:min(len(commit.ID), shortCommit)]), " ", code(title), by, pull)
	}
	if more := totalCommits(comparison) - len(newest); more > 0 {
		b.line("- and ", strconv.Itoa(more), " more")
	}
	return b.String()
}

// withoutReference returns a link to a pull request that adds no reference to its timeline,
// where GitHub has one. https://redirect.github.com redirects to github.com for this.
// https://docs.renovatebot.com/configuration-options/#prbodytemplate
func withoutReference(link string) string {
	if rest, found := strings.CutPrefix(link, "https://github.com/"); found {
		return "https://redirect.github.com/" + rest
	}
	return link
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

// The marks around the section about changes. The first has a hash of the changes, so that
// the section can stay while a part of it cannot be read.
const (
	changesBegin = "<!-- promoter:changes "
	changesEnd   = "<!-- promoter:changes -->"
)

func changesMark(p Page) string {
	hash := sha256.New()
	for _, d := range p.Decisions {
		for _, m := range p.movesOf(d) {
			_, _ = fmt.Fprintf(hash, "%q %q %q\n", d.Application, KeyOf(m), m.Form) // a hash does not fail
		}
	}
	return changesBegin + hex.EncodeToString(hash.Sum(nil)[:8]) + " -->"
}

// KeepChanges returns promoter's part of a body with the section about changes that the
// existing body has, if that is about the same changes: nothing is removed only because it
// cannot be read just now.
func KeepChanges(existing, ours string) string {
	_, rest, begins := strings.Cut(existing, beginMarker)
	theirs, _, ends := strings.Cut(rest, endMarker)
	from := strings.Index(ours, changesBegin)
	if !begins || !ends || from < 0 {
		return ours
	}
	mark, _, _ := strings.Cut(ours[from:], "\n")
	section := func(text string) (begin, end int) {
		begin = strings.Index(text, mark)
		if begin < 0 {
			return 0, 0
		}
		length := strings.Index(text[begin:], changesEnd)
		return begin, begin + max(length, 0)
	}
	theirs = strings.ReplaceAll(theirs, "\r\n", "\n")
	keepBegin, keepEnd := section(theirs)
	begin, end := section(ours)
	if keepEnd <= keepBegin || end <= begin {
		return ours
	}
	return ours[:begin] + theirs[keepBegin:keepEnd] + ours[end:]
}
