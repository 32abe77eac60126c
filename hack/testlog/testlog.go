package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is one line of `go test -json` (see `go doc test2json`).
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// key names what an output line belongs to; builds have an import path only.
func (e event) key() string { return e.Package + e.ImportPath + " " + e.Test }

// skip is a test that did not run.
type skip struct{ test, reason string }

// log collects what is printed at the end.
type log struct {
	out    io.Writer
	output map[string]*strings.Builder
	skips  []skip
	failed int
}

func run(in io.Reader, out io.Writer, noSkips bool, allowed []string) error {
	log := &log{out: out, output: map[string]*strings.Builder{}}
	if err := log.read(in); err != nil {
		return err
	}
	forbidden := log.printSkips(noSkips, allowed)
	switch {
	case log.failed > 0:
		return fmt.Errorf("%d packages or tests failed", log.failed)
	case forbidden > 0:
		return fmt.Errorf("%d tests were skipped that must run here", forbidden)
	case len(log.output) == 0:
		return errors.New("no test output: nothing ran")
	}
	return nil
}

func (l *log) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			l.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the test output: %w", err)
		}
	}
}

// line handles one line; what is not an event (a message of the go command) is
// passed through.
func (l *log) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		_, _ = l.out.Write(line)
		return
	}
	switch e.Action {
	case "output", "build-output":
		l.keep(e)
	case "fail", "build-fail":
		l.failed++
		fmt.Fprint(l.out, l.text(e))
	case "skip":
		if e.Test != "" {
			l.skips = append(l.skips, skip{e.Package + " " + e.Test, reason(l.text(e))})
		}
	}
}

// keep stores an output line under its test. The closing line of a package is
// printed at once, so that long runs show progress.
func (l *log) keep(e event) {
	if e.Test == "" && closing(e.Output) {
		fmt.Fprint(l.out, e.Output)
		l.output[e.key()] = &strings.Builder{}
		return
	}
	kept, ok := l.output[e.key()]
	if !ok {
		kept = &strings.Builder{}
		l.output[e.key()] = kept
	}
	kept.WriteString(e.Output)
}

func (l *log) text(e event) string {
	if kept, ok := l.output[e.key()]; ok {
		return kept.String()
	}
	return ""
}

// closing tells the last line of a package: "ok  	promoter/internal/image	0.2s".
func closing(line string) bool {
	for _, start := range []string{"ok  \t", "FAIL\t", "?   \t"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// reason takes the words of t.Skip out of a test's output.
func reason(output string) string {
	var words []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			words = append(words, line)
		}
	}
	return strings.Join(words, " ")
}

// printSkips lists the skipped tests and counts those that must not be.
func (l *log) printSkips(noSkips bool, allowed []string) (forbidden int) {
	for _, one := range l.skips {
		word := "skipped"
		isIn := func(word string) bool { return strings.Contains(one.reason, word) }
		if noSkips && !slices.ContainsFunc(allowed, isIn) {
			forbidden++
			word = "SKIPPED, but must run here"
		}
		fmt.Fprintf(l.out, "%s: %s: %s\n", word, one.test, one.reason)
	}
	return forbidden
}
