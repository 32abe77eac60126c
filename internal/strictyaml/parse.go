package strictyaml

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"
)

// MaxSize is the largest file that is read, in bytes. A file of this size decodes in
// well under a second.
const MaxSize = 1 << 20

// parse returns the root of the only document of a file, or nil after a problem.
func parse(file string, data []byte, report *Report) *Node {
	start := Position{File: file, Line: 1, Column: 1}
	if len(data) > MaxSize {
		report.Errorf(start, "split the repository or use patterns", "the file is larger than %d bytes", MaxSize)
		return nil
	}
	if !utf8.Valid(data) {
		offset := 0
		for offset < len(data) {
			r, size := utf8.DecodeRune(data[offset:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			offset += size
		}
		report.Errorf(positionAt(file, data, offset), "save the file as UTF-8", "the file is not UTF-8")
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		report.Errorf(start, "write at least version: 1", "the file is empty")
		return nil
	case err != nil:
		report.add(syntaxProblem(file, data, err))
		return nil
	}
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
		return document.Content[0]
	case err != nil:
		report.add(syntaxProblem(file, data, err))
	default:
		at := Position{File: file, Line: second.Line, Column: second.Column}
		report.Errorf(at, "keep one document; remove this --- and what follows", "the file has a second document")
	}
	return nil
}

// positionAt turns a byte offset into a position.
func positionAt(file string, data []byte, offset int) Position {
	before := data[:min(offset, len(data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	last := before[bytes.LastIndexByte(before, '\n')+1:]
	if line == 1 {
		last = bytes.TrimPrefix(last, []byte("\xef\xbb\xbf")) // a byte order mark is not a column
	}
	return Position{File: file, Line: line, Column: 1 + utf8.RuneCount(last)}
}

// The YAML library reports a line for most syntax errors, off by one for those of its
// parser, and never a column. The rest is found by decoding the file again from a
// reader that returns one byte at a time, which shows where the library stopped.

var (
	libraryError  = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// syntaxMessages translates the library's common messages. Others are shown as they are.
var syntaxMessages = []struct{ contains, message, hint string }{
	{"mapping values are not allowed", "unexpected colon: no key can start here", "check the indentation, or put the value in quotes"},
	{
		"found character that cannot start any token", "the value starts with a character that YAML reserves",
		"put values that start with @, ` or % in quotes",
	},
	{"a tab character where an indentation space", "the line is indented with a tab", "indent with spaces"},
	{"did not find expected ',' or ']'", "a list in brackets is not closed", "add the missing ] or a comma"},
	{"did not find expected ',' or '}'", "a mapping in braces is not closed", "add the missing } or a comma"},
	{"did not find expected key", "a key is missing", "indent this line like its neighbors"},
	{"did not find expected '-' indicator", "a list item without -", "indent this line like its neighbors"},
	{"did not find expected <document start>", "there is text after the end of the document", "keep one document"},
	{"could not find expected ':'", "a key has no colon", "add a colon and a space"},
	{"found unexpected end of stream", "a quote is not closed", "add the missing quote"},
	{"unknown escape character", "unknown escape sequence in double quotes", "use single quotes, which keep backslashes"},
	{"exceeded max depth", "the file is nested too deeply", "follow the structure in the documentation"},
	{"control characters are not allowed", "the file has a control character", "remove it"},
}

// syntaxProblem translates an error of the YAML library.
func syntaxProblem(file string, data []byte, err error) Problem {
	message, line := err.Error(), 0
	if m := libraryError.FindStringSubmatch(message); m != nil {
		message = m[2]
		line, _ = strconv.Atoi(m[1])
	}
	out := Problem{
		Severity: SeverityError, Position: syntaxPosition(file, data, message, line),
		Message: "not valid YAML: " + message, Hint: "see https://yaml.org/spec/1.2.2",
	}
	if unknownAnchor.MatchString(message) {
		// The name is not quoted: it may be a password that starts with *.
		out.Message = "there is no anchor with this name"
		out.Hint = "define it above with &NAME; put values that start with * in quotes"
		return out
	}
	if strings.Contains(message, "cannot start any token") {
		start, text := lineAt(data, out.Line)
		if indented := bytes.TrimLeft(text, " "); bytes.HasPrefix(indented, []byte("\t")) {
			out.Position = positionAt(file, data, start+len(text)-len(indented))
			message = "a tab character where an indentation space"
		}
	}
	for _, row := range syntaxMessages {
		if strings.Contains(message, row.contains) {
			out.Message, out.Hint = row.message, row.hint
			break
		}
	}
	return out
}

// syntaxPosition finds the position of an error that the library reports for a line,
// 0 if it names none.
func syntaxPosition(file string, data []byte, message string, line int) Position {
	reader := &byteReader{data: data}
	decoder := yaml.NewDecoder(reader)
	for decoder.Decode(&Node{}) == nil {
	}
	stop := reader.read
	// The scanner reads ahead four bytes, to recognize "--- ".
	near := stop - 4
	if stop == len(data) {
		near = stop - 1
	}
	for near > 0 && near < len(data) && strings.IndexByte(" \t\r\n", data[near]) >= 0 {
		near--
	}
	nearby := positionAt(file, data, max(0, near))
	firstOfLine := func(line int) Position {
		start, text := lineAt(data, line)
		return positionAt(file, data, start+len(text)-len(bytes.TrimLeft(text, " \t\r")))
	}
	if m := unknownAnchor.FindStringSubmatch(message); m != nil {
		return positionAt(file, data, max(0, bytes.LastIndex(data[:stop], []byte("*"+m[1]))))
	}
	switch {
	case strings.Contains(message, "control characters"):
		return positionAt(file, data, max(0, stop-1))
	case strings.HasPrefix(message, "did not find expected ',' or"):
		// The line is that of the opening bracket, counted from 0.
		start, text := lineAt(data, line+1)
		return positionAt(file, data, start+max(0, bytes.LastIndexAny(text, "[{")))
	case strings.HasPrefix(message, "did not find"):
		return firstOfLine(nearby.Line)
	case nearby.Line == max(1, line) && stop < len(data):
		return nearby
	default:
		return firstOfLine(max(1, line))
	}
}

// byteReader returns one byte at a time and counts them.
type byteReader struct {
	data []byte
	read int
}

// Read implements io.Reader.
func (r *byteReader) Read(p []byte) (int, error) {
	if r.read == len(r.data) {
		return 0, io.EOF
	}
	p[0] = r.data[r.read]
	r.read++
	return 1, nil
}

// lineAt returns the offset and the text of a line, counted from 1.
func lineAt(data []byte, line int) (start int, text []byte) {
	for range line - 1 {
		next := bytes.IndexByte(data[start:], '\n')
		if next < 0 {
			break
		}
		start += next + 1
	}
	text, _, _ = bytes.Cut(data[start:], []byte("\n"))
	return start, text
}
