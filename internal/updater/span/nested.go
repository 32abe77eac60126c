package span

import (
	"sort"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// block is a literal block scalar whose text is parsed as a separate stream. The
// outer stream contains the same text line by line, indented.
type block struct {
	outer  *Stream
	node   *yaml.Node
	starts []lineStart
	indent string
	eol    string // the line break after the block header
}

// lineStart is the offset of the start of a line of the block in its own text
// and in the outer stream.
type lineStart struct{ inner, outer int }

// Nested parses the text of a literal block scalar as a separate stream.
func (s *Stream) Nested(n *yaml.Node) (*Stream, error) {
	return s.nested(n, Parse)
}

// NestedText reads the text of a literal block scalar, which is not YAML, as a separate stream.
func (s *Stream) NestedText(n *yaml.Node, syntax Syntax) (*Stream, error) {
	return s.nested(n, func(data []byte) (*Stream, error) { return ParseText(data, syntax), nil })
}

func (s *Stream) nested(n *yaml.Node, read func([]byte) (*Stream, error)) (*Stream, error) {
	if n.Style&yaml.LiteralStyle == 0 {
		return nil, errSpan
	}
	at, err := s.offset(n.Line, n.Column)
	if err != nil {
		return nil, err
	}
	lines, indent, err := s.blockLines(skipProperties(s.Data, at), n.Value)
	if err != nil {
		return nil, err
	}
	inner, err := read([]byte(n.Value))
	if err != nil {
		return nil, err
	}
	b := &block{
		outer: s, node: n, indent: strings.Repeat(" ", indent),
		eol: string(s.Data[lines[0].End:s.nextLine(lines[0].Start)]),
	}
	offset := 0
	for _, line := range lines {
		b.starts = append(b.starts, lineStart{offset, line.Start})
		offset += line.End - line.Start + len("\n")
	}
	inner.block = b
	return inner, nil
}

// Depth returns how many block scalars enclose the stream.
func (s *Stream) Depth() (depth int) {
	for ; s.block != nil; s = s.block.outer {
		depth++
	}
	return depth
}

// inFile converts an offset in the stream to an offset in its file.
func (s *Stream) inFile(offset int) (file *Stream, at int, err error) {
	for s.block != nil {
		if offset, err = s.block.outerOffset(offset); err != nil {
			return nil, 0, err
		}
		s = s.block.outer
	}
	return s, offset, nil
}

// outerOffset converts an offset in the text of the block to an offset in the
// outer stream.
func (b *block) outerOffset(offset int) (int, error) {
	after := sort.Search(len(b.starts), func(i int) bool { return b.starts[i].inner > offset })
	if after == 0 {
		return 0, errOutside
	}
	line := b.starts[after-1]
	return line.outer + offset - line.inner, nil
}

// blockLines returns the lines of a block scalar's text as they appear in the
// stream, without indentation and line breaks. The indicator is at offset at;
// value determines the number of lines and their indentation.
func (s *Stream) blockLines(at int, value string) (lines []Span, indent int, err error) {
	indent = -1
	for line := range strings.SplitSeq(strings.TrimSuffix(value, "\n"), "\n") {
		if at = s.nextLine(at); at > len(s.Data) {
			return nil, 0, errSpan
		}
		found := Span{at, s.LineEnd(at)}
		if line != "" && indent < 0 {
			indent = found.End - found.Start - len(line)
		}
		found.Start = min(found.Start+max(indent, 0), found.End)
		if line == "" {
			found.Start = found.End
		}
		if indent < 0 && line != "" || string(s.Data[found.Start:found.End]) != line {
			return nil, 0, errSpan
		}
		lines = append(lines, found)
	}
	return lines, max(indent, 0), nil
}
