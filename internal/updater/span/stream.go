// Package span changes scalars in YAML text without serializing it.
//
// Parse reads a stream. Stream.Span returns the bytes of a scalar in it, compared
// with the value that the parser read. A Change sets a scalar, or adds, removes,
// or renames a key; its Replacement is the bytes to replace in the file. Splice
// applies replacements, and Prove parses the result and reports an error if
// anything but the requested changes differs. A change whose bytes are not
// certain is an error, never a guess.
//
// Text that is not YAML is a stream with a Syntax, which reads its values.
//
// Text in a literal block scalar may itself be a stream. Stream.Nested returns
// it, and changes in it are converted to bytes of the file.
package span

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
)

// Stream is YAML text with its documents: a file, or the text of a block scalar
// in another stream. It must not be used concurrently.
type Stream struct {
	Data      []byte       // must not be changed
	Documents []*yaml.Node // empty if the text was not parsed

	lines  []int  // offsets of line starts
	block  *block // nil if the stream is a file
	syntax Syntax // nil if the text is YAML
	mask   *Mask  // nil if the text is no template of YAML
	// Where the last lookups ended. Positions are looked up in file order, and
	// a hostile file may be one line with a million of them.
	parsed, shown cursor
}

// Span is a range of bytes.
type Span struct{ Start, End int }

// cursor is an offset with its line and column.
type cursor struct{ offset, line, column int }

// Parse returns the stream of a file.
func Parse(data []byte) (*Stream, error) {
	documents, err := parse(data)
	s := Unparsed(data)
	s.Documents = documents
	return s, err
}

// byteOrderMark is the UTF-8 byte order mark. The parser does not count it as a
// column.
const byteOrderMark = "\ufeff"

// Unparsed returns a stream that has lines and positions but no documents. Lines
// are those of the parser: YAML 1.1 breaks them at LF, CR LF, CR, NEL, LS and PS.
func Unparsed(data []byte) *Stream {
	s := &Stream{Data: data, lines: make([]int, 1, 1+bytes.Count(data, []byte{'\n'}))}
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		s.lines[0] = len(byteOrderMark)
	}
	for i := 0; i < len(data); {
		width := lineBreak(data[i:])
		if width == 0 {
			i++
			continue
		}
		i += width
		s.lines = append(s.lines, i)
	}
	return s
}

// lineBreak returns the length of the line break at the start of data, or 0.
func lineBreak(data []byte) int {
	switch c := data[0]; {
	case c == '\n':
		return 1
	case c == '\r' && len(data) > 1 && data[1] == '\n':
		return 2
	case c == '\r':
		return 1
	case c == 0xC2 && len(data) > 1 && data[1] == 0x85: // NEL
		return 2
	case c == 0xE2 && len(data) > 2 && data[1] == 0x80 && data[2]&^1 == 0xA8: // LS, PS
		return 3
	default:
		return 0
	}
}

// Lines returns the offsets of the starts of lines.
func (s *Stream) Lines() []int { return s.lines }

// LineEnd returns the offset of the first line break at or after the given
// offset.
func (s *Stream) LineEnd(at int) int {
	for at < len(s.Data) && lineBreak(s.Data[at:]) == 0 {
		at++
	}
	return at
}

// nextLine returns the offset of the start of the next line.
func (s *Stream) nextLine(at int) int {
	at = s.LineEnd(at)
	if at < len(s.Data) {
		at += lineBreak(s.Data[at:])
	}
	return at
}

var errOutside = errors.New("the parser's position lies outside the file")

// offset converts the parser's line and column, in characters from 1, to a byte
// offset.
func (s *Stream) offset(line, column int) (int, error) {
	if line < 1 || line > len(s.lines) || column < 1 {
		return 0, errOutside
	}
	if s.parsed.line != line || s.parsed.column > column {
		s.parsed = cursor{s.lines[line-1], line, 1}
	}
	at := s.parsed.offset
	for range column - s.parsed.column {
		if at >= len(s.Data) {
			return 0, errOutside
		}
		if s.Data[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, width := utf8.DecodeRune(s.Data[at:])
		at += width
	}
	s.parsed = cursor{at, line, column}
	return at, nil
}

// Position converts an offset to the line and column shown to users. Lines end
// at LF only, as in editors and Git.
func (s *Stream) Position(file string, offset int) edit.Position {
	if s.shown.line == 0 || s.shown.offset > offset {
		s.shown = cursor{s.lines[0], 1, 1}
		offset = max(offset, s.lines[0])
	}
	between := s.Data[s.shown.offset:offset]
	if at := bytes.LastIndexByte(between, '\n'); at >= 0 {
		s.shown.line += bytes.Count(between, []byte{'\n'})
		s.shown.column = 1
		between = between[at+1:]
	}
	s.shown.column += utf8.RuneCount(between)
	s.shown.offset = offset
	return edit.Position{File: file, Line: s.shown.line, Column: s.shown.column}
}
