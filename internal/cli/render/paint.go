package render

import (
	"strings"

	"promoter/internal/promotion"
)

// Colors of the terminal, as SGR sequences (ECMA-48, 8.3.117).
const (
	ColorReset  = "\x1b[0m"
	ColorBold   = "\x1b[1m"
	ColorRed    = "\x1b[31m"
	ColorGreen  = "\x1b[32m"
	ColorYellow = "\x1b[33m"
	ColorCyan   = "\x1b[36m"
)

// Painter colors text, if it is on.
type Painter bool

// Paint colors a text.
func (p Painter) Paint(color, text string) string {
	if !p || text == "" || color == "" {
		return text
	}
	return color + text + ColorReset
}

// Diff colors a line of a unified diff.
func (p Painter) Diff(line string) string {
	body := strings.TrimSuffix(line, "\n")
	return p.Paint(diffColor(body), body) + line[len(body):]
}

func diffColor(line string) string {
	switch {
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return ColorBold
	case strings.HasPrefix(line, "@@"):
		return ColorCyan
	case strings.HasPrefix(line, "-"):
		return ColorRed
	case strings.HasPrefix(line, "+"):
		return ColorGreen
	default:
		return ""
	}
}

func stateColor(state promotion.State) string {
	switch state {
	case promotion.Proposed:
		return ColorGreen
	case promotion.Refused, promotion.Unanswered, promotion.Stuck:
		return ColorRed
	case promotion.Waiting:
		return ColorYellow
	default:
		return ""
	}
}

func conditionColor(state promotion.ConditionState) string {
	switch state {
	case promotion.Passed:
		return ColorGreen
	case promotion.Failed, promotion.Blocked:
		return ColorRed
	default:
		return ColorYellow
	}
}
