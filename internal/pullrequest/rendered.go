package pullrequest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"promoter/internal/scm"
)

// Manifests is what changes in the manifests of one kustomization or chart.
type Manifests struct {
	Name    string // such as "kustomization apps/web/overlays/prod"
	Objects int    // how many differ
	Diff    string // unified
	Cut     bool   // Diff is not complete
	Problem string // why there is no difference to show; nothing else but Name is set then
}

// maxRendered is the number of runes of all differences in a body: other sections follow.
const maxRendered = 20_000

// writeRendered writes the differences in rendered manifests, each folded.
func (p Page) writeRendered(b *markdown) {
	left := maxRendered
	for _, m := range p.Rendered {
		left -= utf8.RuneCountInString(m.Diff)
		head := "Rendered manifests of " + code(m.Name) + ": "
		switch {
		case m.Problem != "":
			b.paragraph(head + Sanitize(m.Problem) + ".")
		case m.Objects == 0:
			b.paragraph(head + "nothing changes.")
		case left < 0:
			b.paragraph(head + m.summary() + ", too long to show here. Where promoter may write checks, " +
				code(scm.RenderedCheck) + " shows it.")
		default:
			b.fold("Rendered manifests of "+html(m.Name)+": "+m.summary(), m.block())
		}
	}
}

// IsRenderedLong reports whether the body leaves out differences.
func (p Page) IsRenderedLong() bool {
	total := 0
	for _, m := range p.Rendered {
		total += utf8.RuneCountInString(m.Diff)
	}
	return total > maxRendered
}

// RenderedSummary returns all differences as Markdown, for a check.
func (p Page) RenderedSummary() string {
	var b markdown
	for _, m := range p.Rendered {
		b.line("### ", code(m.Name), "\n")
		if m.Problem != "" {
			b.paragraph(Sanitize(m.Problem) + ".")
			continue
		}
		b.paragraph(m.summary() + ".")
		if m.Diff != "" {
			b.line(m.block(), "\n")
		}
	}
	return b.String()
}

func (m Manifests) summary() string {
	text := "1 object changes"
	if m.Objects != 1 {
		text = strconv.Itoa(m.Objects) + " objects change"
	}
	if m.Cut {
		text += ", not all shown"
	}
	return text
}

// block returns the difference as a code block with a fence that it does not contain. No comment
// of promoter can begin in it.
func (m Manifests) block() string {
	fence := "```"
	for strings.Contains(m.Diff, fence) {
		fence += "`"
	}
	text := strings.ReplaceAll(strings.TrimRight(m.Diff, "\n"), beginComment, "<"+zeroWidthSpace+"!--")
	return fmt.Sprintf("%sdiff\n%s\n%s", fence, text, fence)
}
