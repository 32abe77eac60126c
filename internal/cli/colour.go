package cli

import (
	"io"
	"strings"

	"promoter/internal/fault"
)

// colours of the terminal, as SGR sequences (ECMA-48, 8.3.117).
const (
	colourReset  = "\x1b[0m"
	colourBold   = "\x1b[1m"
	colourRed    = "\x1b[31m"
	colourGreen  = "\x1b[32m"
	colourYellow = "\x1b[33m"
	colourCyan   = "\x1b[36m"
)

// painter colours text, or leaves it alone.
type painter bool

// newPainter decides whether to colour: a person's word counts before NO_COLOR
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

func (p painter) paint(colour, text string) string {
	if !p || text == "" || colour == "" {
		return text
	}
	return colour + text + colourReset
}

// diff colours a line of a unified diff.
func (p painter) diff(line string) string {
	body := strings.TrimSuffix(line, "\n")
	return p.paint(diffColour(body), body) + line[len(body):]
}

func diffColour(line string) string {
	switch {
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return colourBold
	case strings.HasPrefix(line, "@@"):
		return colourCyan
	case strings.HasPrefix(line, "-"):
		return colourRed
	case strings.HasPrefix(line, "+"):
		return colourGreen
	default:
		return ""
	}
}

// write writes data; the first error ends the command.
func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}
