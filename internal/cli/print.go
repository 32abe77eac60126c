package cli

import (
	"encoding/json"
	"io"

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
// output is no HTML.
func writeJSON(w io.Writer, data any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(data)
}
