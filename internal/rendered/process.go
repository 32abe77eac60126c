package rendered

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"promoter/internal/fault"
)

// Limits of the child process.
const (
	MaxMemory = 512 << 20        // bytes; less where the memory of the container is less
	MinMemory = 128 << 20        // bytes: with less, the smallest chart is not rendered
	maxTime   = 20 * time.Second // of a processor; the parent waits twice as long
)

// errLimit is in the chain of errors about a limit that the same files exceed again.
var errLimit = errors.New("rendering exceeds a limit")

// errNotStarted is in the chain of errors about a child process that did not start.
var errNotStarted = errors.New("rendering did not start")

// limitError is an error about a limit, whose message has no more than its own words.
type limitError struct{ error }

func (f limitError) Unwrap() []error { return []error{f.error, errLimit} }

func overLimit(format string, arguments ...any) error {
	return limitError{fault.New(fault.Invalid, format, arguments...)}
}

// render runs one child process, and returns how much time of a processor it used. Its result is
// parsed strictly: it processed untrusted input.
func render(ctx context.Context, program string, r request) (found []Difference, used time.Duration, err error) {
	limited, stop := context.WithTimeout(ctx, 2*maxTime)
	defer stop()
	command := exec.CommandContext(limited, program, Command) //nolint:gosec // this program itself
	command.Env = []string{}                                  // no credentials, proxies, or folders of the user
	input, write := io.Pipe()
	go func() { _ = write.CloseWithError(r.writeTo(write)) }() // the child fails if its input is not complete
	defer func() { _ = input.Close() }()                       // ends it
	command.Stdin = input
	var out, messages limitedBuffer
	out.limit, messages.limit = 4*maxDiff, 8<<10
	command.Stdout, command.Stderr = &out, &messages
	command.WaitDelay = time.Second
	err = command.Run()
	state := command.ProcessState
	if state == nil {
		return nil, 0, fault.New(fault.Temporary, "%w: %w", errNotStarted, err)
	}
	used = state.UserTime() + state.SystemTime()
	switch {
	case ctx.Err() != nil:
		return nil, used, ctx.Err()
	case limited.Err() != nil:
		return nil, used, fault.New(fault.Invalid, "rendering took more than %s", 2*maxTime)
	case errors.Is(out.err, errFull):
		return nil, used, overLimit("the result of rendering is too large")
	case err != nil:
		return nil, used, failure(err, used, r.Memory, messages.String())
	}
	decoder := json.NewDecoder(bytes.NewReader(out.Bytes()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&found); err != nil {
		return nil, used, fmt.Errorf("read the result of rendering: %w", err)
	}
	return found, used, nil
}

// failure returns why a child process failed: a limit, or its own message.
func failure(err error, used time.Duration, memory int64, messages string) error {
	// By Go, its race detector, and where no memory is left for the stack of a thread.
	outOfMemory := []string{"out of memory", "allocate", "failed to create new OS thread", "pthread_create failed"}
	killed := strings.Contains(err.Error(), "signal: killed")
	switch {
	case slices.ContainsFunc(outOfMemory, func(text string) bool { return strings.Contains(messages, text) }):
		return overLimit("rendering needs more than %d MiB of memory", memory>>20)
	case strings.Contains(err.Error(), "signal: cpu"), killed && used >= maxTime-time.Second:
		return overLimit("rendering needs more than %s of a processor", maxTime)
	case killed:
		return fault.New(fault.Invalid, "rendering was killed: the container may be out of memory")
	case slices.Contains([]string{"signal: terminated", "signal: interrupt", "signal: hangup"}, err.Error()):
		// A supervisor or a terminal ends this process with its children.
		return fault.New(fault.Temporary, "rendering was interrupted: %w", err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(messages), "\n")
	if strings.HasPrefix(first, "panic:") { // it can contain what was rendered
		first = "panic"
	}
	return fault.New(fault.Invalid, "rendering failed: %v: %s", err, shown(first))
}

var errFull = errors.New("too large")

// limitedBuffer keeps what fits.
type limitedBuffer struct {
	bytes.Buffer
	limit int
	err   error
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		b.err = errFull
		return 0, errFull
	}
	return b.Buffer.Write(p)
}
