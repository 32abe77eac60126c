package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// holder is a literal block scalar whose text is parsed as a separate stream.
// The outer stream contains the same text line by line, indented.
type holder struct {
	stream *stream
	node   *yaml.Node
	inner  []int // offsets of line starts in the inner text
	outer  []int // the same offsets in the outer stream
	indent string
	eol    string // the line break after the block header
}

// blockLines returns the lines of a block scalar's text as they appear in the
// stream, without indentation and line breaks. The indicator is at offset at;
// value determines the number of lines and their indentation.
func (s *stream) blockLines(at int, value string) (lines []span, indent int, err error) {
	indent = -1
	for line := range strings.SplitSeq(strings.TrimSuffix(value, "\n"), "\n") {
		if at = s.nextLine(at); at > len(s.data) {
			return nil, 0, errSpan
		}
		found := span{at, s.lineEnd(at)}
		if line != "" && indent < 0 {
			indent = found.end - found.start - len(line)
		}
		found.start = min(found.start+max(indent, 0), found.end)
		if line == "" {
			found.start = found.end
		}
		if indent < 0 && line != "" || string(s.data[found.start:found.end]) != line {
			return nil, 0, errSpan
		}
		lines = append(lines, found)
	}
	return lines, max(indent, 0), nil
}

// lineEnd returns the offset of the first line break at or after the given
// offset.
func (s *stream) lineEnd(at int) int {
	for at < len(s.data) && lineBreak(s.data[at:]) == 0 {
		at++
	}
	return at
}

// nextLine returns the offset of the start of the next line.
func (s *stream) nextLine(at int) int {
	at = s.lineEnd(at)
	if at < len(s.data) {
		at += lineBreak(s.data[at:])
	}
	return at
}

// blockSpan returns the span of a block scalar's text if the text is a single
// line.
func (s *stream) blockSpan(n *yaml.Node, at int) (span, error) {
	value := strings.TrimRight(n.Value, "\n")
	if value == "" {
		return span{}, errSpan
	}
	lines, _, err := s.blockLines(at, value)
	if err != nil || len(lines) > 1 {
		return span{}, errManyLines
	}
	return lines[0], nil
}

// hold parses the text of a literal block scalar as a separate stream.
func (s *stream) hold(n *yaml.Node) (*stream, error) {
	at, err := s.offset(n.Line, n.Column)
	if err != nil {
		return nil, err
	}
	h := &holder{stream: s, node: n}
	if err := h.matchLines(skipProperties(s.data, at)); err != nil {
		return nil, err
	}
	inner, err := newStream([]byte(n.Value))
	if err != nil {
		return nil, err
	}
	inner.holder = h
	return inner, nil
}

// matchLines locates each line of the text in the outer stream.
func (h *holder) matchLines(at int) error {
	if h.node.Style&yaml.LiteralStyle == 0 {
		return errSpan
	}
	lines, indent, err := h.stream.blockLines(at, h.node.Value)
	if err != nil {
		return err
	}
	offset := 0
	for _, line := range lines {
		h.inner, h.outer = append(h.inner, offset), append(h.outer, line.start)
		offset += line.end - line.start + len("\n")
	}
	h.indent = strings.Repeat(" ", indent)
	h.eol = string(h.stream.data[lines[0].end:h.stream.nextLine(lines[0].start)])
	return nil
}

// outerOffset converts an offset in the inner text to an offset in the outer
// stream.
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
