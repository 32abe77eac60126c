// Package render prints results as text for users and as JSON for programs: plan.go those
// of plan and apply, report.go those of run and explain, failures.go and summary.go their
// messages. This file has what all commands print with.
//
// Text never contains control characters of others: see Visible.
package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"promoter/internal/config"
	"promoter/internal/fault"
)

// PrintMessage prints one line for the user. An error of the output is ignored.
func PrintMessage(w io.Writer, format string, args ...any) {
	PrintDetail(w, "promoter: "+format, args...)
}

// PrintDetail prints one more line of a message.
func PrintDetail(w io.Writer, format string, args ...any) {
	_, _ = io.WriteString(w, Visible(fmt.Sprintf(format, args...))+"\n")
}

// PrintError prints an error. The problems of a config have the form that editors
// recognize, one per line.
func PrintError(w io.Writer, err error) {
	var invalid *config.Error
	if errors.As(err, &invalid) {
		_, _ = io.WriteString(w, ProblemLines(invalid.Problems))
		return
	}
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			PrintMessage(w, "%s", line)
		}
	}
}

// ProblemLines has one line for each problem.
func ProblemLines(problems config.Problems) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(Visible(p.String()) + "\n")
	}
	return b.String()
}

// PrintAs prints data as JSON or as text, for the verbs without another format.
func PrintAs(w io.Writer, output string, data any, text func() string) error {
	switch output {
	case "text":
		return Write(w, text())
	case "json":
		return writeJSON(w, data)
	default:
		return CheckOutput(output)
	}
}

// CheckOutput refuses a format that printAs does not have, before a verb starts its work.
func CheckOutput(output string) error {
	if output == "text" || output == "json" {
		return nil
	}
	return fault.New(fault.Invalid, "--output %s: want text or json", output)
}

// writeJSON writes indented JSON. Characters such as < stay as they are: the output is not
// HTML. Characters that do not print are escaped, which is the same JSON: the encoder
// keeps control characters over 0x7e and those that change the direction of writing, and
// the output may be a terminal.
func writeJSON(w io.Writer, data any) error {
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(data); err != nil {
		return err
	}
	return Write(w, escapeJSON(plain.String()))
}

// WriteJSONLine writes JSON on one line, for a sequence of documents.
func WriteJSONLine(w io.Writer, data any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil {
		return err
	}
	return Write(w, escapeJSON(line.String()))
}

// escapeJSON escapes what does not print. That occurs only in strings.
func escapeJSON(text string) string {
	odd := func(r rune) bool { return r != '\n' && !strconv.IsPrint(r) }
	if !strings.ContainsFunc(text, odd) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !odd(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// Write writes data. The verb ends with the first error.
func Write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// Visible returns the text on one line with everything that does not print escaped as in
// Go: file names, tags, and messages of registries come from others, and a terminal
// executes control characters. Output for programs is not changed: JSON has its own
// escapes, and a diff must keep its bytes.
func Visible(text string) string {
	return escape(text, func(r rune) bool { return strconv.IsPrint(r) })
}

// visibleLine does the same for a line of a file, where tabs are common and a carriage
// return at the end belongs to the line end.
func visibleLine(line string) string {
	body := strings.TrimRight(line, "\r\n")
	return escape(body, func(r rune) bool { return r == '\t' || strconv.IsPrint(r) }) + lineEnd(line[len(body):])
}

// lineEnd keeps one line end and escapes the rest.
func lineEnd(end string) string {
	extra := strings.TrimSuffix(end, "\r\n")
	if extra == end {
		extra = strings.TrimSuffix(end, "\n")
	}
	return escape(extra, strconv.IsPrint) + end[len(extra):]
}

func escape(text string, plain func(rune) bool) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i]), 16)) // a byte over 0x7f has two digits
		case plain(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// Count returns a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// oneLine joins the lines of an error, such as the problems of a config.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}

// List turns a nil slice into an empty one.
func List[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

// SortedPairs yields a map in the order of its keys.
func SortedPairs(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// AppendNew appends a name that is not in the list.
func AppendNew(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
