package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"promoter/internal/fault"
	"promoter/internal/promotion"
)

// Colors of the terminal, as SGR sequences (ECMA-48, 8.3.117).
const (
	colorReset  = "\x1b[0m"
	colorBold   = "\x1b[1m"
	colorRed    = "\x1b[31m"
	colorGreen  = "\x1b[32m"
	colorYellow = "\x1b[33m"
	colorCyan   = "\x1b[36m"
)

// painter colors text, if it is on.
type painter bool

// newPainter decides whether to color: the flag takes precedence over NO_COLOR
// (https://no-color.org), and that over the kind of output.
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

// progress shows the progress of long work on one line of a terminal, which is cleared at
// the end. Without a terminal it shows nothing.
type progress struct {
	out   io.Writer // nil: no terminal
	mutex sync.Mutex
	shown bool
}

// clearLine goes to the start of the line and erases it (ECMA-48, 8.3.41).
const clearLine = "\r\x1b[K"

func newProgress(system System) *progress {
	if !system.ErrTerminal {
		return &progress{}
	}
	return &progress{out: system.Err}
}

func (p *progress) show(doing string, done, total int) {
	if p.out == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.shown = true
	if total > 0 {
		_, _ = fmt.Fprintf(p.out, "%s%s %d/%d", clearLine, doing, done, total)
		return
	}
	_, _ = fmt.Fprintf(p.out, "%s%s", clearLine, doing)
}

func (p *progress) clear() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.shown {
		_, _ = io.WriteString(p.out, clearLine)
		p.shown = false
	}
}
