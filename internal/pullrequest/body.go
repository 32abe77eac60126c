package pullrequest

import (
	"strings"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/image"
)

// Body returns our part of the text of a pull request, with its markers, at most
// 65,536 runes. It is a function of the page alone.
func Body(p Page) string {
	var b writing
	b.line(beginMarker)
	b.line(titleMark(Title(p)))
	b.paragraph(p.ownWords())
	b.paragraph(p.standing())
	p.versions(&b)
	p.reasons(&b)
	p.conditions(&b)
	p.gates(&b)
	p.steering(&b)
	p.commits(&b)
	b.line(endMarker)
	return fit(strings.TrimSuffix(b.String(), "\n"), maxBody)
}

// maxOwnWords is the most runes of the config's words, so that what moves has room.
const maxOwnWords = 16_384

// ownWords are the words of the config, which may use any markup but our markers.
func (p Page) ownWords() string {
	text := p.fill(p.Environment.PullRequest.Body)
	for _, marker := range []string{beginMarker, endMarker} {
		text = strings.ReplaceAll(text, marker, "")
	}
	return shorten(strings.TrimSpace(strings.ToValidUTF8(text, "")), maxOwnWords)
}

// standing says why the pull request stands still, where it does.
func (p Page) standing() string {
	if p.Step != StepKeep || p.Reason.Message == "" {
		return ""
	}
	return "**It stands still:** " + Sanitize(p.Reason.Message) + until(p.Reason.Until) + "."
}

// grouped says whether a line has to tell which application it is about.
func (p Page) grouped() bool { return len(p.Decisions) > 1 }

// of puts the application before the cells of a row, where there are several.
func (p Page) of(application string, cells ...string) []string {
	if !p.grouped() {
		return cells
	}
	return append([]string{application}, cells...)
}

// versions is the table of what moves.
func (p Page) versions(b *writing) {
	var rows [][]string
	for _, d := range p.Decisions {
		for _, m := range p.shown(d) {
			rows = append(rows, p.of(cell(d.Application),
				cell(m.Component), present(m), cell(promotion.Label(m.To)), cell(promotion.ShortDigest(m.To.Digest)), created(m.To)))
		}
	}
	b.table(p.of("application", "component", "from", "to", "digest", "created"), rows)
}

// reasons says why the versions are wanted. Of one that stands still the reason
// for that is enough.
func (p Page) reasons(b *writing) {
	if p.Step == StepKeep {
		return
	}
	for _, d := range p.Decisions {
		about := "Why"
		if p.grouped() {
			about = "- " + code(d.Application)
		}
		b.line(about, ": ", Sanitize(d.Reason.Message), ".")
	}
	b.line()
}

// present is what stands in the files; nothing where they disagree.
func present(m promotion.Move) string {
	if promotion.Label(m.From) == promotion.Label(m.To) && m.From.Digest != m.To.Digest {
		return cell(promotion.ShortDigest(m.From.Digest))
	}
	return cell(promotion.Label(m.From))
}

// created is a date and no age: the same version has the same words tomorrow.
func created(v image.Version) string {
	if !image.KnownCreated(v.Created) {
		return "unknown"
	}
	return v.Created.UTC().Format(time.DateOnly)
}

// conditions is the table of what has to hold before the versions are proposed.
func (p Page) conditions(b *writing) {
	var rows [][]string
	for _, d := range p.Decisions {
		for _, c := range d.Conditions {
			rows = append(rows, p.of(cell(d.Application), conditionCells(c)...))
		}
	}
	if len(rows) > 0 {
		b.paragraph("**Before it is proposed**")
		b.table(p.of("application", "condition", "state", "value", "why"), rows)
	}
}

// gates is the table of what has to hold before the pull request lands.
func (p Page) gates(b *writing) {
	var rows [][]string
	for _, gate := range p.Gates {
		rows = append(rows, conditionCells(gate))
	}
	if len(rows) > 0 {
		b.paragraph("**Before it lands**")
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

// until says when something changes by itself; nothing where that is not known.
func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " (until " + t.UTC().Format("2006-01-02 15:04") + " UTC)"
}

// steering says what people can do.
func (p Page) steering(b *writing) {
	target := p.flags()
	b.paragraph("**How to steer it**")
	if p.Environment.Land == config.LandAutomerge {
		b.line("- promoter merges it when everything has passed.")
	} else {
		b.line("- Merge it to land it.")
	}
	b.line("- Close it, and these versions are not proposed for ", code(p.Environment.Name), " again; newer ones are.")
	b.line("- `promoter hold", target, "` keeps promoter from touching it; `promoter resume", target,
		"` takes back a hold or a close.")
	b.line("- `promoter reject` keeps versions out of every environment. After it landed, `promoter rollback", target,
		"` goes back.")
	b.line("- Or say it in a comment: `/promoter hold`, `resume`, `reject`, `promote`, `refresh`, `explain`; `/promoter help` tells which you may.")
	b.line("- Push to its branch, and promoter leaves it to you. Text outside of this part stays as you write it.")
	b.line()
}

// flags are what the verbs need to mean this place. In a group the reader chooses
// the application.
func (p Page) flags() string {
	application := "APPLICATION"
	if !p.Group && len(p.Decisions) == 1 {
		application = p.Decisions[0].Application
	}
	return " --env " + p.Environment.Name + " --app " + application
}

// commits lists what lies between the versions.
func (p Page) commits(b *writing) {
	written := map[Span]bool{}
	for _, move := range p.moves() {
		span, known := SpanOf(move)
		comparison, told := p.Commits[span]
		if !known || !told || len(comparison.Commits) == 0 || written[span] {
			continue
		}
		written[span] = true
		b.paragraph("**Commits of " + code(move.Component) + "**" + linkTo(comparison.URL))
		b.list(comparison)
	}
}
