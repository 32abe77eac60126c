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
	"strconv"
	"strings"
	"syscall"
	"time"
)

// execute runs a command to its end and returns the elapsed time. Its output goes
// through a pipe: grep stops at the first match when it sees that it writes to
// /dev/null.
func execute(ctx context.Context, words []string, stdin io.Reader, out io.Writer) (time.Duration, error) {
	command, complaint := prepare(ctx, words, stdin, out)
	begin := time.Now()
	err := command.Run()
	took := time.Since(begin)
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, complaint.Bytes())
	}
	return took, nil
}

func prepare(ctx context.Context, words []string, stdin io.Reader, out io.Writer) (*exec.Cmd, *bytes.Buffer) {
	var complaint bytes.Buffer
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Env = append(os.Environ(), "LC_ALL=C")
	command.Stdin, command.Stdout, command.Stderr = stdin, out, &complaint
	return command, &complaint
}

// peakArgument is the argument that makes this program run a command and print its
// peak resident memory. Linux counts the memory of the process that starts a
// program as the program's own, up to its start, so a process that holds little
// has to start it.
const peakArgument = "peak"

// peakOf asks a second, small process of this program.
func peakOf(ctx context.Context, words []string, stdin string) (int64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find the own program: %w", err)
	}
	var printed strings.Builder
	asked := append([]string{self, "--", peakArgument}, words...)
	if _, err := execute(ctx, asked, strings.NewReader(stdin), &printed); err != nil {
		return 0, err
	}
	peak, err := strconv.ParseInt(strings.TrimSpace(printed.String()), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the peak memory: %w", err)
	}
	return peak, nil
}

// printPeak is the second process.
func printPeak(ctx context.Context, out io.Writer, words []string) error {
	command, complaint := prepare(ctx, words, os.Stdin, io.Discard)
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, complaint.Bytes())
	}
	used, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("this system does not tell the memory of a process")
	}
	_, err := fmt.Fprintln(out, used.Maxrss*maxrssUnit)
	return err
}

// maxrssUnit: Linux counts ru_maxrss in KiB (getrusage(2)).
const maxrssUnit = 1024

// counter counts the lines that begin with start, and keeps none.
type counter struct {
	start []byte
	lines int
	line  []byte // the beginning of the present line
}

func (c *counter) Write(p []byte) (int, error) {
	for _, b := range p {
		switch {
		case b != '\n':
			if len(c.line) < len(c.start) {
				c.line = append(c.line, b)
			}
			continue
		case bytes.Equal(c.line, c.start):
			c.lines++
		}
		c.line = c.line[:0]
	}
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
