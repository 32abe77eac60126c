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

// peak is the most memory that a process had, in bytes.
type peak struct {
	resident int64
	// own is resident memory without the pages of files. Of the program itself, the system maps 45
	// to 80 MiB, after how its file was written: processes share them, and it can drop them.
	own int64
}

func (p peak) String() string {
	return fmt.Sprintf("%s (own %s)", mebibytes(p.resident), mebibytes(p.own))
}

// atLeast has the worst of both.
func (p peak) atLeast(other peak) peak {
	return peak{resident: max(p.resident, other.resident), own: max(p.own, other.own)}
}

// peakOf asks a second, small process of this program.
func peakOf(ctx context.Context, words []string, stdin string) (peak, error) {
	self, err := os.Executable()
	if err != nil {
		return peak{}, fmt.Errorf("find the own program: %w", err)
	}
	var printed strings.Builder
	asked := append([]string{self, "--", peakArgument}, words...)
	if _, err := execute(ctx, asked, strings.NewReader(stdin), &printed); err != nil {
		return peak{}, err
	}
	var found peak
	if _, err := fmt.Sscan(printed.String(), &found.resident, &found.own); err != nil {
		return peak{}, fmt.Errorf("read the peak memory: %w", err)
	}
	return found, nil
}

// printPeak is the second process.
func printPeak(ctx context.Context, out io.Writer, words []string) error {
	command, complaint := prepare(ctx, words, os.Stdin, io.Discard)
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	var found peak
	sample := time.NewTicker(sampleEvery)
	defer sample.Stop()
	for running := true; running; {
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, complaint.Bytes())
			}
			running = false
		case <-sample.C:
			found.own = max(found.own, ownMemory(command.Process.Pid))
		}
	}
	used, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("this system does not tell the memory of a process")
	}
	found.resident = used.Maxrss * maxrssUnit
	_, err := fmt.Fprintln(out, found.resident, found.own)
	return err
}

// sampleEvery is how often the memory of a process is read whose peak the system does not keep.
const sampleEvery = 2 * time.Millisecond

// ownMemory is the anonymous memory of a process, in bytes; zero: it has ended (proc_pid_status(5)).
func ownMemory(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\nRssAnon:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib << 10
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
