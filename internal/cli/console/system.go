// Package console is the machine as a command sees it: standard streams, colors, the line
// of progress, and the exit code.
//
// Data goes to standard output, messages to standard error.
package console

import (
	"io"
	"os"

	"golang.org/x/term"

	"promoter/internal/cli/render"
	"promoter/internal/fault"
)

// System is what the command line uses of the machine. Tests pass their own.
type System struct {
	In          io.Reader
	Out, Err    io.Writer
	OutTerminal bool       // standard output is a terminal
	ErrTerminal bool       // standard error is a terminal
	Height      func() int // lines of the terminal of standard output; nil, or 0: unknown
	Env         func(string) (string, bool)
}

// OS is the machine that the process runs on.
func OS() System {
	return System{
		In:          os.Stdin,
		Out:         os.Stdout,
		Err:         os.Stderr,
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Height: func() int {
			_, height, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil {
				return 0
			}
			return height
		},
		Env: os.LookupEnv,
	}
}

// NewPainter decides whether to color: the flag takes precedence over NO_COLOR
// (https://no-color.org), and that over the kind of output.
func NewPainter(when string, system System) (render.Painter, error) {
	switch when {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
		no, set := system.Env("NO_COLOR")
		return render.Painter(system.OutTerminal && (!set || no == "")), nil
	default:
		return false, fault.New(fault.Invalid, "--color %s: want auto, always or never", when)
	}
}
