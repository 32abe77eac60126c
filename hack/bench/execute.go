package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// execution is what one run of a command took.
type execution struct {
	took   time.Duration
	memory int64 // peak resident memory in bytes
}

// execute runs a command to its end. Its output goes through a pipe: grep stops
// at the first match when it sees that it writes to /dev/null.
func execute(ctx context.Context, words []string, stdin string, out io.Writer) (execution, error) {
	var complaint bytes.Buffer
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Env = append(os.Environ(), "LC_ALL=C")
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), out, &complaint
	begin := time.Now()
	err := command.Run()
	took := time.Since(begin)
	if err != nil {
		return execution{}, fmt.Errorf("%s: %w\n%s", strings.Join(words[:2], " "), err, complaint.Bytes())
	}
	memory, err := peak(command.ProcessState)
	return execution{took, memory}, err
}

// peak is what the kernel tells about the ended process. Linux counts the memory
// of the process that started it as well, up to the start of the program, so the
// figure means something only while it is larger than our own.
func peak(state *os.ProcessState) (int64, error) {
	theirs, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, errors.New("this system does not tell the memory of a process")
	}
	return theirs.Maxrss * maxrssUnit, nil
}

// ownPeak is the peak resident memory of this process in bytes.
func ownPeak() (int64, error) {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0, fmt.Errorf("ask for the own memory: %w", err)
	}
	return own.Maxrss * maxrssUnit, nil
}

// maxrssUnit: Linux counts ru_maxrss in KiB (getrusage(2)).
const maxrssUnit = 1024

// counter counts lines, and keeps none.
type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) {
	c.n += bytes.Count(p, []byte{'\n'})
	return len(p), nil
}

// samples are the times of one figure.
type samples []time.Duration

// median of an even number is the mean of the middle two.
func (s samples) median() time.Duration {
	sorted := slices.Sorted(slices.Values(s))
	if len(sorted) == 0 {
		return 0
	}
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
