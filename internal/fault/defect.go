package fault

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Survive makes an error of a panic, so that it ends the work at hand alone. It is
// deferred itself, with the error that the function returns:
//
//	defer fault.Survive(&err)
func Survive(err *error) {
	if value := recover(); value != nil {
		*err = Defect(value)
	}
}

// Defect is the error about a recovered panic. Called by who recovered, it tells where
// that was. One that somebody panics with anew, in place of a goroutine, stays what it was.
func Defect(value any) error {
	if err, ok := value.(error); ok {
		if known, ok := errors.AsType[*defect](err); ok {
			return Wrap(Internal, known)
		}
	}
	return Wrap(Internal, &defect{fmt.Sprintf("a defect of promoter, please report it: panic: %v%s", value, where())})
}

// defect is the error about a panic.
type defect struct{ text string }

// Error returns what happened, and where.
func (d *defect) Error() string { return d.text }

// where is the place in code that panicked; empty: it is not on the stack.
func where() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	for panicking, more := false, true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			panicking = true
		case panicking && !strings.HasPrefix(frame.Function, "runtime."):
			return fmt.Sprintf(", in %s (%s:%d)", path.Base(frame.Function), path.Base(frame.File), frame.Line)
		}
	}
	return ""
}
