package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"

	"promoter/internal/fault"
)

// printAs prints data as JSON or as text, for the commands that know no other
// form.
func printAs(w io.Writer, output string, data any, text func() string) error {
	switch output {
	case "text":
		return write(w, text())
	case "json":
		return writeJSON(w, data)
	default:
		return checkOutput(output)
	}
}

// checkOutput refuses a form that printAs does not know, for verbs that should
// not find out after their work.
func checkOutput(output string) error {
	if output == "text" || output == "json" {
		return nil
	}
	return fault.New(fault.Invalid, "--output %s: want text or json", output)
}

// writeJSON writes indented JSON. Characters such as < stay as they are: the
// output is no HTML. What does not print is written as its number, which is the
// same JSON: the encoder leaves control characters over 0x7e and those that turn
// the direction of writing as they are, and people look at JSON on terminals.
func writeJSON(w io.Writer, data any) error {
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(data); err != nil {
		return err
	}
	return write(w, numbered(plain.String()))
}

// numbered escapes what does not print in JSON. It stands in strings alone.
func numbered(text string) string {
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
