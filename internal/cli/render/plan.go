package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"promoter/internal/checkout"
	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/promotion"
)

// Plan prints a preview.
type Plan func(w io.Writer, preview *checkout.Preview) error

// NewPlan returns the renderer of an output format. A diff for a terminal has what does
// not print escaped.
func NewPlan(output string, summary bool, paint Painter, terminal bool) (Plan, error) {
	switch {
	case output == "text" && summary:
		return summaryRenderer{paint}.render, nil
	case output == "text":
		return textRenderer{paint}.render, nil
	case output == "diff" && summary:
		return nil, fault.New(fault.Invalid, "--summary prints no diff: use --output text or json")
	case output == "diff":
		return diffRenderer{paint: paint, visible: terminal}.render, nil
	case output == "markdown" && summary:
		return nil, fault.New(fault.Invalid, "--summary is for --output text or json: markdown has its own")
	case output == "markdown":
		return renderMarkdown, nil
	case output == "json" && summary:
		return renderSummaryJSON, nil
	case output == "json":
		return renderJSON, nil
	default:
		return nil, fault.New(fault.Invalid, "--output %s: want text, json, diff or markdown", output)
	}
}

// textRenderer prints each target with its state and reason, the diff, and the conditions
// and gates.
type textRenderer struct{ paint Painter }

func (r textRenderer) render(w io.Writer, preview *checkout.Preview) error {
	for rest := preview.Targets; len(rest) > 0; {
		n := countSame(rest, func(t checkout.TargetPreview) bool { return t.Environment == rest[0].Environment })
		if err := Write(w, r.environment(rest[:n])); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// countSame returns how many elements at the start are the same in some way.
func countSame[E any](all []E, same func(E) bool) int {
	if n := slices.IndexFunc(all, func(e E) bool { return !same(e) }); n >= 0 {
		return n
	}
	return len(all)
}

// environment prints the targets of one environment. Of many, it prints one diff, as an
// example of each state.
func (r textRenderer) environment(targets []checkout.TargetPreview) string {
	var b strings.Builder
	var all []row
	for i := range targets {
		target := &targets[i]
		all = append(all, row{
			application: target.Application, state: target.State, text: target.Reason.String(),
			details: r.details(target), failed: len(target.Refusals) > 0,
		})
	}
	examples := map[promotion.State]bool{}
	for _, group := range collapse(all) {
		first := slices.IndexFunc(targets, func(t checkout.TargetPreview) bool { return t.Application == group.applications[0] })
		target, name := &targets[first], previewName(&targets[first])
		many := len(all) > maxListed
		if many && (len(group.applications) > 1 || group.more) {
			name = target.Environment
			if target.Branch != "" {
				name += " (" + target.Branch + ")"
			}
		}
		fmt.Fprintf(&b, "%s  %s  %s\n%s", r.paint.Paint(ColorBold, Visible(name)),
			r.paint.Paint(stateColor(target.State), string(target.State)), Visible(group.reason(all)), group.details)
		if many && (examples[target.State] || group.more) {
			continue
		}
		examples[target.State] = true
		if many && len(group.applications) > 1 && len(target.Files) > 0 {
			fmt.Fprintf(&b, "  for example %s; -o diff prints all\n", Visible(target.Application))
		}
		b.WriteString(diffRenderer{paint: r.paint, visible: true}.target(target))
	}
	return b.String()
}

// details lists the refusals, the notes, the conditions, and the gates of a target.
func (r textRenderer) details(target *checkout.TargetPreview) string {
	var b strings.Builder
	for _, refusal := range target.Refusals {
		fmt.Fprintf(&b, "  %s %s\n", r.paint.Paint(ColorRed, "refused"), Visible(refusal.String()))
	}
	for _, note := range target.Notes {
		fmt.Fprintf(&b, "  note %s\n", Visible(note.Position.String()+": "+note.Text))
	}
	for _, mention := range target.Mentions.Listed {
		if !mention.Refused {
			fmt.Fprintf(&b, "  mention %s\n", Visible(mention.String()+" is left unchanged"))
		}
	}
	if target.Mentions.More > 0 {
		fmt.Fprintf(&b, "  mention and %d more\n", target.Mentions.More)
	}
	for _, condition := range target.Conditions {
		fmt.Fprintf(&b, "  condition %s\n", r.condition(condition))
	}
	for _, gate := range target.Gates {
		fmt.Fprintf(&b, "  gate %s\n", r.condition(gate))
	}
	return b.String()
}

func (r textRenderer) condition(c promotion.Condition) string {
	text := fmt.Sprintf("%s: %s", Visible(c.Name), r.paint.Paint(conditionColor(c.State), string(c.State)))
	if c.Reason != "" {
		text += ", " + Visible(c.Reason)
	}
	if c.Value != "" {
		text += " (" + Visible(c.Value) + ")"
	}
	if c.Until != nil {
		text += ", until " + c.Until.Format(time.RFC3339)
	}
	return text
}

// Condition returns a condition or a gate in one line, without color.
func Condition(c promotion.Condition) string { return textRenderer{}.condition(c) }

// previewName omits the application if the config distinguishes none.
func previewName(target *checkout.TargetPreview) string {
	name := target.Environment
	if target.Application != config.DefaultApplication && target.Application != "" {
		name += "/" + target.Application
	}
	if target.Branch != "" {
		name += " (" + target.Branch + ")"
	}
	return name
}

// summaryRenderer prints no diffs: for each environment the number of targets in each state,
// then the targets that have a change or failed, with those that have the same reason on one line.
type summaryRenderer struct{ paint Painter }

// summaryStates are the states in the order in which a summary counts them.
var summaryStates = []promotion.State{
	promotion.Proposed, promotion.Refused, promotion.Unanswered, promotion.Waiting, promotion.Rejected, promotion.Reverted,
	promotion.NotCheckedOut, promotion.NoReference, promotion.Absent, promotion.Same,
}

func (r summaryRenderer) render(w io.Writer, preview *checkout.Preview) error {
	environments := summarize(preview)
	width := 0
	for _, e := range environments {
		width = max(width, utf8.RuneCountInString(Visible(e.Name)))
	}
	var b strings.Builder
	for _, e := range environments {
		var counts []string
		for _, state := range summaryStates {
			if n := e.Counts[state]; n > 0 {
				counts = append(counts, r.paint.Paint(stateColor(state), fmt.Sprintf("%d %s", n, state)))
			}
		}
		fmt.Fprintf(&b, "%s  %s\n", r.name(e.Name, width), strings.Join(counts, ", "))
	}
	separator := "\n"
	for _, e := range environments {
		for rest := e.Targets; len(rest) > 0; {
			first := rest[0]
			same := countSame(rest, func(t summaryTarget) bool { return t.State == first.State && t.Reason == first.Reason })
			var names []string
			for _, target := range rest[:same] {
				if target.Application != config.DefaultApplication {
					names = append(names, Visible(target.Application))
				}
			}
			fmt.Fprintf(&b, "%s%s  %s  %s", separator, r.name(e.Name, width),
				r.paint.Paint(stateColor(first.State), string(first.State)), Visible(first.Reason))
			switch {
			case len(names) > maxListed && len(names) == len(e.names):
				fmt.Fprintf(&b, "  (%s)", Count(len(names), "application", "applications"))
			case len(names) > maxListed:
				fmt.Fprintf(&b, "  (%s: %s)", Count(len(names), "application", "applications"), shortNames(names, e.names))
			case len(names) > 0:
				fmt.Fprintf(&b, "  (%s)", strings.Join(names, ", "))
			}
			b.WriteString("\n")
			rest, separator = rest[same:], ""
		}
	}
	return Write(w, b.String())
}

func (r summaryRenderer) name(name string, width int) string {
	name = Visible(name)
	return r.paint.Paint(ColorBold, name) + strings.Repeat(" ", width-utf8.RuneCountInString(name))
}

type summaryJSON struct {
	Schema       int                  `json:"schema"`
	Errors       []errorJSON          `json:"errors"`
	Environments []summaryEnvironment `json:"environments"`
}

type summaryEnvironment struct {
	Name    string                  `json:"name"`
	Branch  string                  `json:"branch,omitempty"`
	Counts  map[promotion.State]int `json:"counts"`
	Targets []summaryTarget         `json:"targets"`
	names   []string                // of all applications
}

type summaryTarget struct {
	Application string          `json:"application"`
	State       promotion.State `json:"state"`
	Reason      string          `json:"reason"`
}

// summarize counts the targets of each environment, and lists those that are proposed,
// refused, or failed, in this order, then by reason and application.
func summarize(preview *checkout.Preview) []summaryEnvironment {
	environments := []summaryEnvironment{}
	for i := range preview.Targets {
		target := &preview.Targets[i]
		at := slices.IndexFunc(environments, func(e summaryEnvironment) bool { return e.Name == target.Environment })
		if at < 0 {
			at = len(environments)
			environments = append(environments, summaryEnvironment{
				Name: target.Environment, Branch: target.Branch, Counts: map[promotion.State]int{}, Targets: []summaryTarget{},
			})
		}
		e := &environments[at]
		e.Counts[target.State]++
		e.names = append(e.names, Visible(target.Application))
		switch target.State {
		case promotion.Proposed, promotion.Refused, promotion.Unanswered, promotion.Waiting:
			e.Targets = append(e.Targets, summaryTarget{target.Application, target.State, target.Reason.String()})
		}
	}
	for _, e := range environments {
		slices.SortStableFunc(e.Targets, func(a, b summaryTarget) int {
			return cmp.Or(cmp.Compare(slices.Index(summaryStates, a.State), slices.Index(summaryStates, b.State)),
				cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Application, b.Application))
		})
	}
	return environments
}

// renderSummaryJSON prints a summary for programs.
func renderSummaryJSON(w io.Writer, preview *checkout.Preview) error {
	return writeJSON(w, summaryJSON{Schema: planSchema, Errors: errorsToJSON(preview), Environments: summarize(preview)})
}

// diffRenderer prints what is proposed as one unified diff, which patch and git apply
// accept. What waits is omitted: it may not be written yet.
type diffRenderer struct {
	paint   Painter
	visible bool // for a user: what does not print is escaped
}

func (r diffRenderer) render(w io.Writer, preview *checkout.Preview) error {
	for i := range preview.Targets {
		target := &preview.Targets[i]
		if !target.Changed() {
			continue
		}
		if err := Write(w, r.target(target)); err != nil {
			return err
		}
	}
	return nil
}

func (r diffRenderer) target(target *checkout.TargetPreview) string {
	var b strings.Builder
	for _, file := range target.Files {
		text := diff.Diff(diffName("a/"+file.Path), file.Before, diffName("b/"+file.Path), file.After)
		_, hunks, _ := strings.Cut(string(text), "\n") // the first line is a "diff" command that no tool reads
		for line := range strings.Lines(hunks) {
			b.WriteString(r.line(line))
		}
	}
	return b.String()
}

func (r diffRenderer) line(line string) string {
	if r.visible {
		line = visibleLine(line)
	}
	return r.paint.Diff(line)
}

// diffName writes a file name as Git does in a diff: in quotes if it contains control
// characters, and followed by a tab if it contains a space.
func diffName(name string) string {
	odd := func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }
	switch {
	case strings.ContainsFunc(name, odd):
		return quoteName(name)
	case strings.Contains(name, " "):
		return name + "\t"
	default:
		return name
	}
}

// quoteName quotes a name like a string in C, with octal escapes.
func quoteName(name string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(name) {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// planSchema is the version of the JSON format. It increases when a reader of the old
// format would misread the new one; additional keys do not count.
const planSchema = 1

type planJSON struct {
	Schema       int           `json:"schema"`
	Errors       []errorJSON   `json:"errors"`
	Environments []previewJSON `json:"environments"`
}

type errorJSON struct {
	Component string     `json:"component"`
	Kind      fault.Kind `json:"kind"`
	Message   string     `json:"message"`
}

type previewJSON struct {
	Name        string                `json:"name"`
	Application string                `json:"application"`
	Branch      string                `json:"branch,omitempty"`
	Snapshot    string                `json:"snapshot"`
	State       promotion.State       `json:"state"`
	Reason      string                `json:"reason"`
	Changes     []edit.Change         `json:"changes"`
	Refused     []edit.Refusal        `json:"refused"`
	Mentions    []edit.Mention        `json:"mentions,omitempty"`
	More        int                   `json:"moreMentions,omitempty"`
	Conditions  []promotion.Condition `json:"conditions"`
	Gates       []promotion.Condition `json:"gates"`
}

// renderJSON prints the preview for programs. Lists are never null.
func renderJSON(w io.Writer, preview *checkout.Preview) error {
	out := planJSON{Schema: planSchema, Errors: errorsToJSON(preview), Environments: []previewJSON{}}
	for i := range preview.Targets {
		out.Environments = append(out.Environments, previewToJSON(&preview.Targets[i]))
	}
	return writeJSON(w, out)
}

func errorsToJSON(preview *checkout.Preview) []errorJSON {
	out := []errorJSON{}
	for _, e := range preview.Errors {
		out = append(out, errorJSON{e.Component, fault.KindOf(e.Err), e.Err.Error()})
	}
	return out
}

func previewToJSON(target *checkout.TargetPreview) previewJSON {
	return previewJSON{
		Name:        target.Environment,
		Application: target.Application,
		Branch:      target.Branch,
		Snapshot:    target.Snapshot.ID(),
		State:       target.State,
		Reason:      target.Reason.String(),
		Changes:     List(target.Changes),
		Refused:     List(target.Refusals),
		Mentions:    target.Mentions.Listed,
		More:        target.Mentions.More,
		Conditions:  List(target.Conditions),
		Gates:       List(target.Gates),
	}
}
