package pullrequest

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scm"
)

// The markers around promoter's part of a pull request body. They must not change:
// text outside of them belongs to users.
const (
	beginMarker = "<!-- promoter:begin -->"
	endMarker   = "<!-- promoter:end -->"
)

const (
	maxBody       = 65_536 // runes of a body; GitHub accepts so many
	minBody       = 500    // runes without which promoter's part is useless
	maxCustomText = 16_384 // runes of the body in the config
	maxCommits    = 30     // listed commits of one component
	maxLink       = 500
	shortCommit   = 7 // shown digits of a commit
)

// Body returns promoter's part of the body of a pull request, with its markers, at
// most 65,536 runes.
func Body(p Page) string {
	var b markdown
	b.line(beginMarker)
	b.line(titleMark(Title(p)))
	b.paragraph(customText(p))
	b.paragraph(onHold(p.Proposal))
	p.writeVersions(&b)
	p.writeReasons(&b)
	p.writeConditions(&b)
	p.writeGates(&b)
	p.writeActions(&b)
	p.writeCommits(&b)
	b.line(endMarker)
	return truncate(strings.TrimSuffix(b.String(), "\n"), maxBody)
}

// customText is the body of the config, which may use any markup except the
// markers.
func customText(p Page) string {
	text := p.fill(p.Environment.PullRequest.Body)
	for _, marker := range []string{beginMarker, endMarker} {
		text = strings.ReplaceAll(text, marker, "")
	}
	return shorten(strings.TrimSpace(strings.ToValidUTF8(text, "")), maxCustomText)
}

// onHold is why the pull request is kept as it is.
func onHold(p Proposal) string {
	if p.Step != StepKeep || p.Reason.Message == "" {
		return ""
	}
	return "**On hold:** " + Sanitize(p.Reason.Message) + until(p.Reason.Until) + "."
}

// row puts the application before the cells of a row if there are several.
func (p Page) row(application string, cells ...string) []string {
	if len(p.Decisions) < 2 {
		return cells
	}
	return append([]string{application}, cells...)
}

func (p Page) writeVersions(b *markdown) {
	var rows [][]string
	for _, d := range p.Decisions {
		for _, m := range p.movesOf(d) {
			from := promotion.Label(m.From)
			if from == promotion.Label(m.To) && m.From.Digest != m.To.Digest {
				from = promotion.ShortDigest(m.From.Digest)
			}
			created := "unknown"
			if image.KnownCreated(m.To.Created) { // a date and no age: the text must not change by itself
				created = m.To.Created.UTC().Format(time.DateOnly)
			}
			rows = append(rows, p.row(cell(d.Application), cell(m.Component), cell(from),
				cell(promotion.Label(m.To)), cell(promotion.ShortDigest(m.To.Digest)), created))
		}
	}
	b.table(p.row("application", "component", "from", "to", "digest", "created"), rows)
}

func (p Page) writeReasons(b *markdown) {
	if p.Step == StepKeep {
		return // onHold gives the reason
	}
	for _, d := range p.Decisions {
		about := "Why"
		if len(p.Decisions) > 1 {
			about = "- " + code(d.Application)
		}
		b.line(about, ": ", Sanitize(d.Reason.Message), ".")
	}
	b.line()
}

func (p Page) writeConditions(b *markdown) {
	var rows [][]string
	for _, d := range p.Decisions {
		for _, c := range d.Conditions {
			rows = append(rows, p.row(cell(d.Application), conditionCells(c)...))
		}
	}
	if len(rows) > 0 {
		b.paragraph("**Conditions**")
		b.table(p.row("application", "condition", "state", "value", "why"), rows)
	}
}

func (p Page) writeGates(b *markdown) {
	var rows [][]string
	for _, gate := range p.Gates {
		rows = append(rows, conditionCells(gate))
	}
	if len(rows) > 0 {
		b.paragraph("**Merge gates**")
		b.table([]string{"gate", "state", "value", "why"}, rows)
	}
}

func conditionCells(c promotion.Condition) []string {
	why := Sanitize(c.Reason)
	if c.Until != nil {
		why += until(*c.Until)
	}
	return []string{cell(c.Name), string(c.State), cell(c.Value), strings.TrimSpace(why)}
}

// until is when something changes by itself; empty if that is unknown.
func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " (until " + t.UTC().Format("2006-01-02 15:04") + " UTC)"
}

// writeActions lists what users can do.
func (p Page) writeActions(b *markdown) {
	application := "APPLICATION"
	if !p.Group && len(p.Decisions) == 1 {
		application = p.Decisions[0].Application
	}
	target := " --env " + p.Environment.Name + " --app " + application
	b.paragraph("**Actions**")
	if p.Environment.Land == config.LandAutomerge {
		b.line("- **Merge:** promoter merges this pull request when all gates have passed.")
	} else {
		b.line("- **Merge** this pull request to deploy these versions.")
	}
	b.line("- **Close** it to reject these versions for ", code(p.Environment.Name), "; newer versions are still proposed.")
	b.line("- **Pause:** `promoter hold", target, "`. `promoter resume", target, "` ends the hold, and undoes a close.")
	b.line("- **Reject** these versions in all environments: `promoter reject`.")
	b.line("- **Roll back** after the merge: `promoter rollback", target, "`.")
	b.line("- **Comment** `/promoter hold`, `resume`, `reject`, `promote`, `refresh`, or `explain`; `/promoter help` lists the commands that you may use.")
	b.line("- **Edit:** if you push to this branch, promoter no longer changes it. Text outside of this section is kept.")
	b.line()
}

// writeCommits lists the commits between the versions.
func (p Page) writeCommits(b *markdown) {
	written := map[Span]bool{}
	for _, move := range p.moves() {
		span, known := SpanOf(move)
		comparison, found := p.Commits[span]
		if !known || !found || len(comparison.Commits) == 0 || written[span] {
			continue
		}
		written[span] = true
		b.paragraph("**Commits of " + code(move.Component) + "**" + compareLink(comparison.URL))
		writeComparison(b, comparison)
	}
}

// writeComparison lists the commits of a comparison, newest first.
func writeComparison(b *markdown, comparison scm.Comparison) {
	commits := comparison.Commits
	for i := range min(len(commits), maxCommits) {
		commit := commits[len(commits)-1-i]
		title, _, _ := strings.Cut(commit.Message, "\n")
		b.line("- ", code(commit.ID[:min(len(commit.ID), shortCommit)]), " ", code(title))
	}
	if more := max(comparison.Total, len(commits)) - min(len(commits), maxCommits); more > 0 {
		b.line("- and ", strconv.Itoa(more), " more")
	}
	b.line()
}

// compareLink returns a link to a page of the forge, or nothing if the address is
// not safe in Markdown.
func compareLink(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "" || len(address) > maxLink {
		return ""
	}
	unsafe := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("<>()[]\\`\"|*", r) }
	if strings.ContainsFunc(address, unsafe) {
		return ""
	}
	return " ([compare](" + address + "))"
}

// MergeBody returns the body of a pull request with promoter's part replaced. Text
// outside of the markers belongs to users and stays. A body without the markers
// stays too: a user who removes promoter's part does not want it. If there is not
// enough room for both, promoter's part is truncated.
func MergeBody(existing, ours string) string {
	if strings.TrimSpace(existing) == "" {
		return ours
	}
	before, rest, begins := strings.Cut(existing, beginMarker)
	_, after, ends := strings.Cut(rest, endMarker)
	if !begins || !ends {
		return existing
	}
	current := existing[len(before) : len(existing)-len(after)]
	room := maxBody - utf8.RuneCountInString(before) - utf8.RuneCountInString(after)
	if room < minBody {
		return existing
	}
	ours = truncate(ours, room)
	if strings.ReplaceAll(current, "\r\n", "\n") == ours { // some forges change line endings
		return existing
	}
	return before + ours + after
}

const truncatedNote = "\n\n*Truncated: the rest exceeds the size of a pull request body.*\n\n" + endMarker

// truncate cuts promoter's part at the end of a line to so many runes.
func truncate(ours string, room int) string {
	if utf8.RuneCountInString(ours) <= room {
		return ours
	}
	head := string([]rune(ours)[:room-utf8.RuneCountInString(truncatedNote)])
	if end := strings.LastIndexByte(head, '\n'); end > 0 {
		head = head[:end]
	}
	return strings.TrimRight(head, "\n") + truncatedNote
}
