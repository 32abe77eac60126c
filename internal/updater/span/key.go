package span

import (
	"bytes"
	"errors"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Reasons why a key is not added or removed.
var (
	errKeyFirst   = errors.New("the key is the first of its list entry and cannot be removed with its line")
	errKeyComment = errors.New("the key to remove has a comment")
	errKeyLayout  = errors.New("the layout leaves no safe place for another key")
)

// rename replaces key and value and keeps the text between them.
func (c Change) rename() (Replacement, error) {
	value := c.Scalar.Node
	index := pairOf(c.mapping, value)
	if index < 0 || isBlock(c.Scalar.Node) || value.Anchor != "" || value.Style&yaml.TaggedStyle != 0 {
		return Replacement{}, errKeyLayout
	}
	stream, key := c.Scalar.Stream, c.mapping.Content[index]
	left, err := stream.Span(key)
	if err != nil {
		return Replacement{}, err
	}
	right, err := stream.Span(value)
	if err != nil {
		return Replacement{}, err
	}
	name, err := format(key, stream.textOf(left), c.key)
	if err != nil {
		return Replacement{}, err
	}
	text, err := format(value, stream.textOf(right), c.Value)
	between := string(stream.Data[left.End:right.Start])
	return Replacement{Span{left.Start, right.End}, name + between + text}, err
}

// add inserts a new key after the line of the adjacent value, or in a flow
// mapping after the value.
func (c Change) add() (Replacement, error) {
	index := pairOf(c.mapping, c.Scalar.Node)
	if index < 0 || isBlock(c.Scalar.Node) {
		return Replacement{}, errKeyLayout
	}
	key := c.mapping.Content[index]
	text, err := c.pair(key)
	if err != nil {
		return Replacement{}, err
	}
	stream := c.Scalar.Stream
	beside, err := stream.Span(c.Scalar.Node)
	if err != nil {
		return Replacement{}, err
	}
	if c.mapping.Style&yaml.FlowStyle != 0 {
		gap, err := stream.gap(c.mapping)
		return Replacement{Span{beside.End, beside.End}, gap + text}, err
	}
	end := stream.LineEnd(beside.End)
	text = stream.lineBreakAt(end) + strings.Repeat(" ", key.Column-1) + text
	return Replacement{Span{end, end}, text}, nil
}

// pair formats key and value in the style of the adjacent pair.
func (c Change) pair(beside *yaml.Node) (string, error) {
	value, err := format(&yaml.Node{Style: c.Scalar.Node.Style &^ yaml.TaggedStyle}, "", c.Value)
	key := c.key
	if beside.Style&yaml.DoubleQuotedStyle != 0 {
		key = quoteDouble(key)
	}
	return key + ": " + value, err
}

// gap returns the text between the first two pairs of a flow mapping: a comma
// and the author's whitespace.
func (s *Stream) gap(m *yaml.Node) (string, error) {
	if len(m.Content) < 4 {
		return ", ", nil
	}
	before, err := s.Span(m.Content[1])
	if err != nil {
		return "", errKeyLayout
	}
	after, err := s.Span(m.Content[2])
	if err != nil {
		return "", errKeyLayout
	}
	gap := string(s.Data[before.End:after.Start])
	if strings.TrimSpace(gap) != "," {
		return "", errKeyLayout
	}
	return gap, nil
}

// lineBreakAt returns the line break at an offset. At the end of a stream
// without a final line break, it returns the one that the stream uses.
func (s *Stream) lineBreakAt(at int) string {
	if at < len(s.Data) {
		return string(s.Data[at : at+lineBreak(s.Data[at:])])
	}
	if bytes.Contains(s.Data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// remove removes the line of a key, or the pair in a flow mapping.
func (c Change) remove() (Replacement, error) {
	index := pairOf(c.mapping, c.Scalar.Node)
	if index < 0 {
		return Replacement{}, errKeyLayout
	}
	key, value := c.mapping.Content[index], c.mapping.Content[index+1]
	if hasComment(key) || hasComment(value) {
		return Replacement{}, errKeyComment
	}
	stream := c.Scalar.Stream
	start, err := stream.offset(key.Line, key.Column)
	if err != nil {
		return Replacement{}, err
	}
	token, err := stream.Span(value)
	if err != nil {
		return Replacement{}, err
	}
	pair := Span{start, token.End}
	if c.mapping.Style&yaml.FlowStyle != 0 {
		return stream.withoutPair(c.mapping, index, pair)
	}
	return stream.withoutLine(pair)
}

// withoutPair removes a pair from a flow mapping together with the gap on one
// side.
func (s *Stream) withoutPair(m *yaml.Node, index int, pair Span) (Replacement, error) {
	if index+2 < len(m.Content) {
		next, err := s.offset(m.Content[index+2].Line, m.Content[index+2].Column)
		return Replacement{Span{pair.Start, next}, ""}, err
	}
	if index == 0 {
		return Replacement{}, errKeyLayout
	}
	before, err := s.Span(m.Content[index-1])
	return Replacement{Span{before.End, pair.End}, ""}, err
}

// withoutLine removes a line that contains only the pair.
func (s *Stream) withoutLine(pair Span) (Replacement, error) {
	start := pair.Start
	for start > 0 && s.Data[start-1] == ' ' {
		start--
	}
	end := s.LineEnd(pair.End)
	if start > 0 && s.Data[start-1] != '\n' && s.Data[start-1] != '\r' {
		return Replacement{}, errKeyFirst
	}
	switch rest := bytes.TrimLeft(s.Data[pair.End:end], " \t"); {
	case bytes.HasPrefix(rest, []byte("#")):
		return Replacement{}, errKeyComment
	case len(rest) > 0:
		return Replacement{}, errKeyLayout
	}
	if end == len(s.Data) && start > 0 { // with the line break before it
		start--
		if start > 0 && s.Data[start] == '\n' && s.Data[start-1] == '\r' {
			start--
		}
		return Replacement{Span{start, end}, ""}, nil
	}
	return Replacement{Span{start, s.nextLine(pair.End)}, ""}, nil
}

func hasComment(n *yaml.Node) bool {
	return n.HeadComment != "" || n.LineComment != "" || n.FootComment != ""
}

// pairOf returns the index of the key whose value is the node, or -1.
func pairOf(m, value *yaml.Node) int {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i+1] == value {
			return i
		}
	}
	return -1
}
