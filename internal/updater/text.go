package updater

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"promoter/internal/edit"
)

// byteOrderMark is the UTF-8 byte order mark. The parser does not count it as a
// column.
const byteOrderMark = "\ufeff"

var errOutside = errors.New("the parser's position lies outside the file")

// span is a range of bytes.
type span struct{ start, end int }

// text is the content of a stream with the starts of its lines as the parser
// counts them: YAML 1.1 breaks lines at LF, CR LF, CR, NEL, LS and PS.
type text struct {
	data  []byte
	lines []int // offsets of line starts
	// Where the last lookups ended. Positions are looked up in file order, and
	// a hostile file may be one line with a million of them.
	parsed, seen cursor
}

// cursor is an offset with its line and column.
type cursor struct{ offset, line, column int }

func newText(data []byte) text {
	t := text{data: data, lines: make([]int, 1, 1+bytes.Count(data, []byte{'\n'}))}
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		t.lines[0] = len(byteOrderMark)
	}
	for i := 0; i < len(data); {
		width := lineBreak(data[i:])
		if width == 0 {
			i++
			continue
		}
		i += width
		t.lines = append(t.lines, i)
	}
	return t
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

// offset converts the parser's line and column, in characters from 1, to a byte
// offset.
func (t *text) offset(line, column int) (int, error) {
	if line < 1 || line > len(t.lines) || column < 1 {
		return 0, errOutside
	}
	if t.parsed.line != line || t.parsed.column > column {
		t.parsed = cursor{t.lines[line-1], line, 1}
	}
	at := t.parsed.offset
	for range column - t.parsed.column {
		if at >= len(t.data) {
			return 0, errOutside
		}
		if t.data[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, width := utf8.DecodeRune(t.data[at:])
		at += width
	}
	t.parsed = cursor{at, line, column}
	return at, nil
}

// position converts an offset to the line and column shown to users. Lines end
// at LF only, as in editors and Git.
func (t *text) position(file string, offset int) edit.Position {
	if t.seen.line == 0 || t.seen.offset > offset {
		t.seen = cursor{t.lines[0], 1, 1}
		offset = max(offset, t.lines[0])
	}
	between := t.data[t.seen.offset:offset]
	if at := bytes.LastIndexByte(between, '\n'); at >= 0 {
		t.seen.line += bytes.Count(between, []byte{'\n'})
		t.seen.column = 1
		between = between[at+1:]
	}
	t.seen.column += utf8.RuneCount(between)
	t.seen.offset = offset
	return edit.Position{File: file, Line: t.seen.line, Column: t.seen.column}
}
