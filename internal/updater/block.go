package updater

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// holder is a literal block scalar whose text is a stream of its own. Line by
// line that text stands in the outer stream, behind the block's indentation.
type holder struct {
	stream *stream
	node   *yaml.Node
	inner  []int // offsets of the lines' first bytes in the inner text
	outer  []int // the same in the outer stream
	indent string
	eol    string // the line break that ends the block's first line
}

// blockLines returns the lines of a block scalar's content: their first and last
// bytes in the stream, the line break left out, and the indentation. At is where
// the indicator stands. With an indentation of its own (|2) the content may start
// with spaces, which the parser's value tells.
func (s *stream) blockLines(at int, value string) (lines []span, indent int) {
	at = s.nextLine(at)
	own := leadingSpaces(value)
	indent = -1
	for at < len(s.data) {
		end := s.lineEnd(at)
		line := s.data[at:end]
		spaces := len(line) - len(bytes.TrimLeft(line, " "))
		if indent < 0 && spaces < len(line) {
			indent = spaces - own
		}
		if indent >= 0 && spaces < indent && spaces < len(line) {
			break
		}
		lines = append(lines, span{at, end})
		at = s.nextLine(at)
	}
	return lines, indent
}

// leadingSpaces counts the spaces before the first line that has more.
func leadingSpaces(value string) int {
	value = strings.TrimLeft(value, "\n")
	return len(value) - len(strings.TrimLeft(value, " "))
}

// lineEnd returns the offset of the line break at or after an offset.
func (s *stream) lineEnd(at int) int {
	for at < len(s.data) && lineBreak(s.data[at:]) == 0 {
		at++
	}
	return at
}

// nextLine returns the offset of the next line's first byte.
func (s *stream) nextLine(at int) int {
	at = s.lineEnd(at)
	if at < len(s.data) {
		at += lineBreak(s.data[at:])
	}
	return at
}

// blockSpan is the span of a block scalar's text if it is one line.
func (s *stream) blockSpan(n *yaml.Node, at int) (span, error) {
	value := strings.TrimRight(n.Value, "\n")
	lines, indent := s.blockLines(at, n.Value)
	if value == "" || len(lines) == 0 || indent < 0 {
		return span{}, errSpan
	}
	if strings.Contains(value, "\n") {
		return span{}, errManyLines
	}
	first := lines[0]
	found := span{first.start + indent, first.end}
	if found.start > found.end || string(s.data[found.start:found.end]) != value {
		return span{}, errManyLines
	}
	return found, nil
}

// hold parses the text of a literal block scalar as a stream of its own.
func (s *stream) hold(n *yaml.Node) (*stream, error) {
	at, err := s.offset(n.Line, n.Column)
	if err != nil {
		return nil, err
	}
	h := &holder{stream: s, node: n}
	if err := h.matchLines(skipProperties(s.data, at)); err != nil {
		return nil, err
	}
	inner, err := newStream([]byte(n.Value), s.comments)
	if err != nil {
		return nil, err
	}
	inner.holder = h
	return inner, nil
}

// matchLines finds each line of the text in the outer stream.
func (h *holder) matchLines(at int) error {
	lines, indent := h.stream.blockLines(at, h.node.Value)
	if h.node.Style&yaml.LiteralStyle == 0 || indent < 0 {
		return errSpan
	}
	offset := 0
	for i, line := range strings.SplitAfter(h.node.Value, "\n") {
		if line == "" {
			continue
		}
		if i >= len(lines) {
			return errSpan
		}
		start := min(lines[i].start+indent, lines[i].end)
		if string(h.stream.data[start:lines[i].end]) != strings.TrimSuffix(line, "\n") {
			return errSpan
		}
		h.inner, h.outer = append(h.inner, offset), append(h.outer, start)
		offset += len(line)
	}
	if len(lines) > 0 {
		first := lines[0]
		h.indent = strings.Repeat(" ", indent)
		h.eol = string(h.stream.data[first.end:h.stream.nextLine(first.start)])
	}
	return nil
}

// outerOffset converts an offset of the inner text to one of the outer stream.
func (h *holder) outerOffset(offset int) (int, error) {
	low, high := 0, len(h.inner)
	for low < high {
		if middle := (low + high) / 2; h.inner[middle] <= offset {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return 0, errOutside
	}
	return h.outer[low-1] + offset - h.inner[low-1], nil
}
