package config

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// The YAML library tells a line for most syntax errors, off by one for those of
// its parser, and never a column. What it does not tell is found by giving it
// the file again byte by byte and looking where it stopped.

// yamlError is the form of the library's messages.
var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// unknownAnchor is the one message that names its cause.
var unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)

// lookahead is how many bytes the library's scanner wants to see behind the
// place where it stands (to recognize --- and a space behind it).
const lookahead = 4

// syntaxProblem translates an error of the YAML library.
func syntaxProblem(file string, data []byte, err error) Problem {
	message, line := err.Error(), 0
	if m := yamlError.FindStringSubmatch(message); m != nil {
		message = m[2]
		line, _ = strconv.Atoi(m[1])
	}
	at := syntaxPosition(file, data, message, line)
	if tab, found := tabIn(file, data, at.Line); found && strings.Contains(message, "cannot start any token") {
		at, message = tab, "a tab character where an indentation space"
	}
	words, hint := syntaxWords(message)
	return Problem{
		Severity: SeverityError,
		Position: at,
		Message:  words,
		Hint:     hint,
	}
}

// syntaxPosition finds where the mistake stands.
func syntaxPosition(file string, data []byte, message string, line int) Position {
	stop := stopOffset(data)
	if m := unknownAnchor.FindStringSubmatch(message); m != nil {
		return positionAt(file, data, max(0, bytes.LastIndex(data[:stop], []byte("*"+m[1]))))
	}
	if strings.Contains(message, "control characters") {
		return positionAt(file, data, max(0, stop-1))
	}
	near := positionAt(file, data, nearOffset(data, stop))
	switch {
	case strings.HasPrefix(message, "did not find expected ',' or"):
		// The line is that of the opening bracket, counted from 0.
		return unclosed(file, data, line+1)
	case strings.HasPrefix(message, "did not find"):
		return firstOfLine(file, data, near.Line)
	case near.Line == max(1, line) && stop < len(data):
		return near
	default:
		return firstOfLine(file, data, max(1, line))
	}
}

// countingReader gives one byte at a time and knows how many it gave.
type countingReader struct {
	data  []byte
	given int
}

func (r *countingReader) Read(p []byte) (int, error) {
	if r.given == len(r.data) {
		return 0, io.EOF
	}
	p[0] = r.data[r.given]
	r.given++
	return 1, nil
}

// stopOffset returns how many bytes the library read before it failed.
func stopOffset(data []byte) int {
	reader := &countingReader{data: data}
	decoder := yaml.NewDecoder(reader)
	for {
		var document yaml.Node
		if decoder.Decode(&document) != nil {
			return reader.given
		}
	}
}

// nearOffset goes back over the lookahead and over white space.
func nearOffset(data []byte, stop int) int {
	near := stop - lookahead
	if stop == len(data) {
		near = stop - 1
	}
	for near > 0 && near < len(data) && strings.IndexByte(" \t\r\n", data[near]) >= 0 {
		near--
	}
	return max(0, near)
}

// firstOfLine is the first character of a line that is no white space.
func firstOfLine(file string, data []byte, line int) Position {
	start := lineStart(data, line)
	text := data[start:]
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	blank := len(text) - len(bytes.TrimLeft(text, " \t\r"))
	return positionAt(file, data, start+blank)
}

// unclosed is the last opening bracket of a line.
func unclosed(file string, data []byte, line int) Position {
	start := lineStart(data, line)
	text := data[start:]
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	return positionAt(file, data, start+max(0, bytes.LastIndexAny(text, "[{")))
}

// tabIn finds a tab in the indentation of a line.
func tabIn(file string, data []byte, line int) (Position, bool) {
	start := lineStart(data, line)
	spaces := len(data[start:]) - len(bytes.TrimLeft(data[start:], " "))
	if start+spaces < len(data) && data[start+spaces] == '\t' {
		return positionAt(file, data, start+spaces), true
	}
	return Position{}, false
}

func lineStart(data []byte, line int) int {
	start := 0
	for range line - 1 {
		next := bytes.IndexByte(data[start:], '\n')
		if next < 0 {
			break
		}
		start += next + 1
	}
	return start
}

// syntaxTable gives the library's commoner messages in plain words, with what to
// do. A message that is not here is shown as it is.
var syntaxTable = []struct{ part, words, hint string }{
	{"mapping values are not allowed", "a colon stands where no key can be", "check the indentation, or put the text in quotes"},
	{"found character that cannot start any token", "a value begins with a character that YAML reserves", "put text that begins with @, ` or % in quotes"},
	{"a tab character where an indentation space", "a tab stands in the indentation", "indent with spaces"},
	{"did not find expected ',' or ']'", "a list in brackets is not closed", "add the missing ] or a comma"},
	{"did not find expected ',' or '}'", "a mapping in braces is not closed", "add the missing } or a comma"},
	{"did not find expected key", "no key stands where one is expected", "indent this line like its neighbors"},
	{"did not find expected '-' indicator", "no - stands where a list goes on", "indent this line like its neighbors"},
	{"did not find expected <document start>", "text follows the end of the document", "keep one document"},
	{"could not find expected ':'", "a key has no colon", "add a colon and a space"},
	{"found unexpected end of stream", "a quote is not closed", "add the missing quote"},
	{"unknown escape character", "a backslash in double quotes begins no known escape", "use single quotes, which keep backslashes"},
	{"exceeded max depth", "the file is nested too deeply", "keep to the structure of the documentation"},
	{"control characters are not allowed", "the file holds a control character", "remove it"},
}

func syntaxWords(message string) (words, hint string) {
	if unknownAnchor.MatchString(message) {
		// The name is not repeated: it may be a password that begins with *.
		return "no anchor has this name", "define it above with &NAME; put text that begins with * in quotes"
	}
	for _, row := range syntaxTable {
		if strings.Contains(message, row.part) {
			return row.words, row.hint
		}
	}
	return "not valid YAML: " + message, "see https://yaml.org/spec/1.2.2"
}
