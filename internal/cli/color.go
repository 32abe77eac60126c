package cli

import (
	"io"
	"strings"

	"promoter/internal/fault"
)

// colors of the terminal, as SGR sequences (ECMA-48, 8.3.117).
const (
	colorReset  = "\x1b[0m"
	colorBold   = "\x1b[1m"
	colorRed    = "\x1b[31m"
	colorGreen  = "\x1b[32m"
	colorYellow = "\x1b[33m"
	colorCyan   = "\x1b[36m"
)

// painter colors text, or leaves it alone.
type painter bool

// newPainter decides whether to color: a person's word counts before NO_COLOR
// (https://no-color.org), and that before what the output is.
func newPainter(when string, system System) (painter, error) {
	switch when {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
		no, set := system.Env("NO_COLOR")
		return painter(system.OutTerminal && (!set || no == "")), nil
	default:
		return false, fault.New(fault.Invalid, "--color %s: want auto, always or never", when)
	}
}

func (p painter) paint(color, text string) string {
	if !p || text == "" || color == "" {
		return text
	}
	return color + text + colorReset
}

// diff colors a line of a unified diff.
func (p painter) diff(line string) string {
	body := strings.TrimSuffix(line, "\n")
	return p.paint(diffColor(body), body) + line[len(body):]
}

func diffColor(line string) string {
	switch {
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return colorBold
	case strings.HasPrefix(line, "@@"):
		return colorCyan
	case strings.HasPrefix(line, "-"):
		return colorRed
	case strings.HasPrefix(line, "+"):
		return colorGreen
	default:
		return ""
	}
}

// write writes data; the first error ends the command.
func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}
