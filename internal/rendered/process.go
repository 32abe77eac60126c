package rendered

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"promoter/internal/fault"
)

// Limits of the child process.
const (
	maxMemory = 512 << 20        // bytes
	maxTime   = 20 * time.Second // of a processor; the parent waits twice as long
)

// Process starts child processes that render.
type Process struct {
	Program string // file of this program
}

// render runs one child process. Its result is parsed strictly: it processed untrusted input.
func (p Process) render(ctx context.Context, r request) ([]Difference, error) {
	input, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write what to render: %w", err)
	}
	limited, stop := context.WithTimeout(ctx, 2*maxTime)
	defer stop()
	command := exec.CommandContext(limited, p.Program, Command) //nolint:gosec // this program itself
	command.Env = []string{}                                    // no credentials, proxies, or folders of the user
	command.Stdin = bytes.NewReader(input)
	var out, messages limitedBuffer
	out.limit, messages.limit = 4*maxDiff, 8<<10
	command.Stdout, command.Stderr = &out, &messages
	command.WaitDelay = time.Second
	err = command.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fault.New(fault.Invalid, "rendering took more than %s", 2*maxTime)
	case errors.Is(out.err, errFull):
		return nil, fault.New(fault.Invalid, "the result of rendering is too large")
	case err != nil:
		return nil, failure(err, messages.String())
	}
	var found []Difference
	decoder := json.NewDecoder(bytes.NewReader(out.Bytes()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&found); err != nil {
		return nil, fmt.Errorf("read the result of rendering: %w", err)
	}
	return found, nil
}

// failure returns why a child process failed: a limit, or its own message.
func failure(err error, messages string) error {
	switch {
	case strings.Contains(messages, "out of memory"), strings.Contains(messages, "allocate"): // by Go, or its race detector
		return fault.New(fault.Invalid, "rendering needs more than %d MiB of memory", maxMemory>>20)
	case strings.Contains(err.Error(), "signal: cpu"), strings.Contains(err.Error(), "signal: killed"):
		return fault.New(fault.Invalid, "rendering needs more than %s of a processor", maxTime)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(messages), "\n")
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
