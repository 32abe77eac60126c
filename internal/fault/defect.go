package fault

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Survive converts a panic to an error, so that it ends only the current work.
// Defer it directly, with the address of the function's error result:
//
//	defer fault.Survive(&err)
func Survive(err *error) {
	if value := recover(); value != nil {
		*err = Defect(value)
	}
}

// Defect returns the error for a recovered panic, including its location. If a
// panic is raised again, for example on behalf of a goroutine, the original
// error is kept.
func Defect(value any) error {
	if err, ok := value.(error); ok {
		if known, ok := errors.AsType[*defect](err); ok {
			return Wrap(Internal, known)
		}
	}
	return Wrap(Internal, &defect{fmt.Sprintf("a defect of promoter, please report it: panic: %v%s", value, where())})
}

// defect is the error for a panic.
type defect struct{ text string }

// Error returns the panic and its location.
func (d *defect) Error() string { return d.text }

// where returns the location in code that panicked, or "" if it is not on the
// stack.
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
