package pullrequest

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"promoter/internal/printable"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
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
	maxShown      = 10     // rows and list items that are not folded
)

// Body returns promoter's part of the body of a pull request, with its markers, at
// most 65,536 runes: what changes, why, what it waits for, and what users can do.
func Body(p Page) string {
	var b markdown
	b.line(beginMarker)
	b.line(titleMark(Title(p)))
	if mark := refusalMark(p.Proposal); mark != "" {
		b.line(mark)
	}
	p.writeChanges(&b)
	b.paragraph(customText(p))
	b.paragraph(unchangedNote(p.Proposal))
	p.writeReasons(&b)
	p.writeBypassed(&b)
	p.writeConditions(&b, true)
	p.writeGates(&b, true)
	p.writeRendered(&b)
	p.writeDrift(&b)
	p.writeActions(&b)
	b.line(endMarker)
	return truncate(strings.TrimSuffix(b.String(), "\n"), maxBody)
}

// customText is the body of the config, which may use any markup except comments of
// promoter, and comments that do not end in it: these would hide what follows. Their
// beginning is broken, not removed: text around something removed can become a new one.
func customText(p Page) string {
	text := printable.Shorten(strings.TrimSpace(strings.ToValidUTF8(p.fill(p.Environment.PullRequest.Body), "")), maxCustomText)
	return breakOpenComment(ownComments.ReplaceAllString(text, brokenComment+"$1"))
}

// ownComments matches the beginning of a comment of promoter: a marker, or a hash of a
// title.
var ownComments = regexp.MustCompile(`(?i)<!--(\s*promoter:)`)

const (
	beginComment, endComment = "<!--", "-->"
	brokenComment            = "&lt;!--"
)

// breakOpenComment breaks the beginning of a comment without an end, and all that it would
// have contained. "<!-->" has no end here: readers of HTML disagree about it.
func breakOpenComment(text string) string {
	for from := 0; ; {
		begin := strings.Index(text[from:], beginComment)
		if begin < 0 {
			return text
		}
		begin += from
		end := strings.Index(text[begin+len(beginComment):], endComment)
		if end < 0 {
			return text[:begin] + strings.ReplaceAll(text[begin:], beginComment, brokenComment)
		}
		from = begin + len(beginComment) + end + len(endComment)
	}
}

// unchangedNote is why the pull request is left as it is.
func unchangedNote(p propose.Proposal) string {
	if p.Step != propose.StepKeep || p.Reason.Message == "" {
		return ""
	}
	label := "Not updated"
	if isHeld(p) {
		label = "Paused"
	}
	return "**" + label + ":** " + Sanitize(p.Reason.Message) + until(p.Reason.Until) + "."
}

// isHeld reports whether the open pull request waits for the end of a hold or freeze.
func isHeld(p propose.Proposal) bool {
	return p.Step == propose.StepKeep && (p.Reason.Rule == promotion.RuleHeld || p.Reason.Rule == promotion.RuleFrozen)
}

// writeDrift lists what the pull request does not change.
func (p Page) writeDrift(b *markdown) {
	if len(p.Drift) == 0 {
		return
	}
	b.paragraph("**Not changed here:**")
	for _, text := range p.Drift[:min(len(p.Drift), maxShown)] {
		b.line("- ", Sanitize(text))
	}
	if more := len(p.Drift) - maxShown; more > 0 {
		b.line(fmt.Sprintf("- and %d more", more))
	}
	b.line()
}

// row puts the application before the cells of a row if there are several.
func (p Page) row(application string, cells ...string) []string {
	if len(p.Decisions) < 2 {
		return cells
	}
	return append([]string{application}, cells...)
}

func (p Page) writeReasons(b *markdown) {
	if p.Step == propose.StepKeep {
		return // unchangedNote gives the reason
	}
	var list markdown
	for _, d := range p.Decisions {
		if len(p.Decisions) == 1 {
			b.paragraph("Why: " + Sanitize(d.Reason.Message) + ".")
			return
		}
		list.line("- ", code(d.Application), ": ", Sanitize(d.Reason.Message), ".")
	}
	if len(p.Decisions) > maxShown {
		b.fold(fmt.Sprintf("Why: the reasons of %d applications", len(p.Decisions)), list.String())
		return
	}
	b.line(list.String())
}

// writeBypassed names what users bypass, above the tables, which are folded if all passed.
func (p Page) writeBypassed(b *markdown) {
	for _, d := range p.Decisions {
		bypassed := d.Bypassed()
		if len(bypassed) == 0 || d.Requested == nil {
			continue
		}
		names := make([]string, 0, len(bypassed))
		for _, c := range bypassed {
			names = append(names, code(c.Name))
		}
		text := "**Bypassed"
		if len(p.Decisions) > 1 {
			text += " for " + code(d.Application)
		}
		request := d.Requested
		b.paragraph(text + ":** " + strings.Join(names, ", ") + " by " + code(request.By.Login) + ": " + Sanitize(request.Reason) + ".")
	}
}

func (p Page) writeConditions(b *markdown, fold bool) {
	var all []promotion.Condition
	var rows [][]string
	for _, d := range p.Decisions {
		all = append(all, d.Conditions...)
		for _, c := range d.Conditions {
			rows = append(rows, p.row(cell(d.Application), conditionCells(c)...))
		}
	}
	writeConditionTable(b, "Conditions", all, fold, p.row("application", "condition", "state", "value", "why"), rows)
}

func (p Page) writeGates(b *markdown, fold bool) {
	var rows [][]string
	for _, gate := range p.Gates {
		rows = append(rows, conditionCells(gate))
	}
	writeConditionTable(b, "Merge gates", p.Gates, fold, []string{"gate", "state", "value", "why"}, rows)
}

// writeConditionTable writes a table with a summary above it. Nothing is left to do
// about conditions that passed, so they can be folded.
func writeConditionTable(b *markdown, title string, all []promotion.Condition, fold bool, head []string, rows [][]string) {
	if len(all) == 0 {
		return
	}
	named := map[promotion.ConditionState][]string{}
	for _, c := range all {
		named[c.State] = append(named[c.State], c.Name)
	}
	passed := len(named[promotion.Passed])
	summary := fmt.Sprintf("%d of %d passed", passed, len(all))
	var table markdown
	table.table(head, rows)
	if fold && (passed == len(all) || len(all) > maxShown) {
		b.fold(title+": "+summary+waitingFor(named, html), table.String())
		return
	}
	b.paragraph("**" + title + ":** " + summary + waitingFor(named, code))
	b.line(strings.TrimSuffix(table.String(), "\n"))
}

// waitingFor names the conditions that block, by what they need.
func waitingFor(named map[promotion.ConditionState][]string, quote func(string) string) string {
	text := ""
	for _, kind := range []struct {
		label string
		names []string
	}{
		{"failed", named[promotion.Failed]},
		{"a setting blocks", named[promotion.Blocked]},
		{"waiting for", named[promotion.Pending]},
		{"unknown", named[promotion.Unknown]},
	} {
		quoted := make([]string, 0, len(kind.names))
		for _, name := range kind.names {
			quoted = append(quoted, quote(name))
		}
		if len(quoted) > 0 {
			text += "; " + kind.label + " " + firstOf(quoted)
		}
	}
	return text
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

// truncate cuts promoter's part at the end of a line to so many runes, and closes what
// is folded there.
func truncate(ours string, room int) string {
	if utf8.RuneCountInString(ours) <= room {
		return ours
	}
	closing := "\n\n" + foldEnd
	head := string([]rune(ours)[:room-utf8.RuneCountInString(closing+truncatedNote)])
	if end := strings.LastIndexByte(head, '\n'); end > 0 {
		head = head[:end]
	}
	head = strings.TrimRight(head, "\n")
	if strings.LastIndex(head+"\n", "\n"+foldBegin+"\n") > strings.LastIndex(head+"\n", "\n"+foldEnd+"\n") {
		head += closing
	}
	return head + truncatedNote
}
