package console

import (
	"promoter/internal/cli/render"
	"promoter/internal/fault"
)

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
