package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"promoter/internal/checkout"
	"promoter/internal/promotion"

	"github.com/rogpeppe/go-internal/diff"

	"promoter/internal/config"
)

// diffRenderer prints what is proposed as one unified diff, which patch and git
// apply take. What waits is left out: nobody may write it yet.
type diffRenderer struct {
	paint   painter
	visible bool // a person reads it, so what does not print is escaped
}

func (r diffRenderer) render(w io.Writer, preview *checkout.Preview) error {
	for i := range preview.Targets {
		target := &preview.Targets[i]
		if !target.Changed() {
			continue
		}
		if err := write(w, r.place(target)); err != nil {
			return err
		}
	}
	return nil
}

func (r diffRenderer) place(target *checkout.TargetPreview) string {
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
	return r.paint.diff(line)
}

// diffName writes a file name as Git does in a diff: in quotes when it holds
// control characters, and closed by a tab when it holds a space.
func diffName(name string) string {
	odd := func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }
	if strings.ContainsFunc(name, odd) {
		return quoteName(name)
	}
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
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

// textRenderer prints each place with its state and reason, the diff, and the
// conditions and gates.
type textRenderer struct{ paint painter }

func (r textRenderer) render(w io.Writer, preview *checkout.Preview) error {
	for i := range preview.Targets {
		if err := write(w, r.place(&preview.Targets[i])); err != nil {
			return err
		}
	}
	return nil
}

func (r textRenderer) place(target *checkout.TargetPreview) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n", r.paint.paint(colorBold, visible(placeName(target))),
		r.paint.paint(stateColor(target.State), string(target.State)), visible(target.Reason.String()))
	for _, refusal := range target.Refusals {
		fmt.Fprintf(&b, "  %s %s\n", r.paint.paint(colorRed, "refused"), visible(refusal.String()))
	}
	for _, note := range target.Notes {
		fmt.Fprintf(&b, "  note %s\n", visible(note.Position.String()+": "+note.Text))
	}
	for _, condition := range target.Conditions {
		fmt.Fprintf(&b, "  condition %s\n", r.condition(condition))
	}
	for _, gate := range target.Gates {
		fmt.Fprintf(&b, "  gate %s\n", r.condition(gate))
	}
	b.WriteString(diffRenderer{paint: r.paint, visible: true}.place(target))
	return b.String()
}

func (r textRenderer) condition(c promotion.Condition) string {
	text := fmt.Sprintf("%s: %s", visible(c.Name), r.paint.paint(conditionColor(c.State), string(c.State)))
	if c.Reason != "" {
		text += ", " + visible(c.Reason)
	}
	if c.Value != "" {
		text += " (" + visible(c.Value) + ")"
	}
	if c.Until != nil {
		text += ", until " + c.Until.Format(time.RFC3339)
	}
	return text
}

// placeName leaves the application out where the config tells none apart.
func placeName(target *checkout.TargetPreview) string {
	name := target.Environment
	if target.Application != config.DefaultApplication && target.Application != "" {
		name += "/" + target.Application
	}
	if target.Branch != "" {
		name += " (" + target.Branch + ")"
	}
	return name
}

func stateColor(state promotion.State) string {
	switch state {
	case promotion.Proposed:
		return colorGreen
	case promotion.Refused, promotion.Unanswered:
		return colorRed
	case promotion.Waiting:
		return colorYellow
	default:
		return ""
	}
}

func conditionColor(state promotion.ConditionState) string {
	switch state {
	case promotion.Passed:
		return colorGreen
	case promotion.Failed, promotion.Blocked:
		return colorRed
	default:
		return colorYellow
	}
}
