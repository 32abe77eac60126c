package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
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

// blockLines returns the lines of a block scalar's text as they stand in the
// stream, without indentation and line break. At is where the indicator stands;
// the value says how many lines there are and how deep they are indented.
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
	if value == "" {
		return span{}, errSpan
	}
	lines, _, err := s.blockLines(at, value)
	if err != nil || len(lines) > 1 {
		return span{}, errManyLines
	}
	return lines[0], nil
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
	inner, err := newStream([]byte(n.Value))
	if err != nil {
		return nil, err
	}
	inner.holder = h
	return inner, nil
}

// matchLines finds each line of the text in the outer stream.
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
