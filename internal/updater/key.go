package updater

import (
	"bytes"
	"errors"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Reasons why a key is not added or removed.
var (
	errKeyFirst   = errors.New("the key stands first in its list entry and cannot be removed with its line")
	errKeyComment = errors.New("a comment stands with the key that has to go")
	errKeyLayout  = errors.New("the layout leaves no safe place for another key")
)

// addKey adds a key with a value after the existing part.
func (s *site) addKey(key, value string) ([]change, error) {
	if value == "" || s.room == nil {
		return nil, nil
	}
	beside := s.parts()[0]
	return []change{{scalar: beside.scalar, value: value, key: key, mapping: s.room.mapping}}, nil
}

// removeKey removes a key with its line.
func (s *site) removeKey(key string) ([]change, error) {
	gone := s.digest
	if key == s.room.tagKey {
		gone = s.tag
	}
	return []change{{scalar: gone.scalar, key: key, remove: true, mapping: s.room.mapping}}, nil
}

// renameKey turns the entry's only part into the other one: a tag becomes a
// digest, or the reverse. The line and its comment are kept.
func (s *site) renameKey(key, value string) []change {
	return []change{{scalar: s.parts()[0].scalar, value: value, key: key, rename: true, mapping: s.room.mapping}}
}

// renaming replaces key and value and keeps the text between them.
func (c *change) renaming() (replacement, error) {
	value := c.scalar.node
	index := pairOf(c.mapping, value)
	if index < 0 || c.scalar.isBlock() || value.Anchor != "" || value.Style&yaml.TaggedStyle != 0 {
		return replacement{}, errKeyLayout
	}
	stream, key := c.scalar.stream, c.mapping.Content[index]
	left, err := stream.span(key)
	if err != nil {
		return replacement{}, err
	}
	right, err := stream.span(value)
	if err != nil {
		return replacement{}, err
	}
	name, err := spell(key, stream.textOf(left), c.key)
	if err != nil {
		return replacement{}, err
	}
	text, err := spell(value, stream.textOf(right), c.value)
	between := string(stream.data[left.end:right.start])
	return replacement{stream, span{left.start, right.end}, name + between + text}, err
}

func (s *stream) textOf(at span) string { return string(s.data[at.start:at.end]) }

// addition inserts a new key after the line of the adjacent value, or in a flow
// mapping after the value.
func (c *change) addition() (replacement, error) {
	index := pairOf(c.mapping, c.scalar.node)
	if index < 0 || c.scalar.isBlock() {
		return replacement{}, errKeyLayout
	}
	key := c.mapping.Content[index]
	text, err := c.pair(key)
	if err != nil {
		return replacement{}, err
	}
	stream := c.scalar.stream
	beside, err := stream.span(c.scalar.node)
	if err != nil {
		return replacement{}, err
	}
	if c.mapping.Style&yaml.FlowStyle != 0 {
		gap, err := stream.gap(c.mapping)
		return replacement{stream, span{beside.end, beside.end}, gap + text}, err
	}
	end := stream.lineEnd(beside.end)
	text = stream.lineBreakAt(end) + strings.Repeat(" ", key.Column-1) + text
	return replacement{stream, span{end, end}, text}, nil
}

// pair formats key and value in the style of the adjacent pair.
func (c *change) pair(beside *yaml.Node) (string, error) {
	value, err := spell(&yaml.Node{Style: c.scalar.node.Style &^ yaml.TaggedStyle}, "", c.value)
	key := c.key
	if beside.Style&yaml.DoubleQuotedStyle != 0 {
		key = quoteDouble(key)
	}
	return key + ": " + value, err
}

// gap returns the text between the first two pairs of a flow mapping: a comma
// and the author's whitespace.
func (s *stream) gap(m *yaml.Node) (string, error) {
	if len(m.Content) < 4 {
		return ", ", nil
	}
	before, err := s.span(m.Content[1])
	if err != nil {
		return "", errKeyLayout
	}
	after, err := s.span(m.Content[2])
	if err != nil {
		return "", errKeyLayout
	}
	gap := string(s.data[before.end:after.start])
	if strings.TrimSpace(gap) != "," {
		return "", errKeyLayout
	}
	return gap, nil
}

// lineBreakAt returns the line break at an offset. At the end of a stream
// without a final line break, it returns the one that the stream uses.
func (s *stream) lineBreakAt(at int) string {
	if at < len(s.data) {
		return string(s.data[at : at+lineBreak(s.data[at:])])
	}
	if bytes.Contains(s.data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// removal removes the line of a key, or the pair in a flow mapping.
func (c *change) removal() (replacement, error) {
	index := pairOf(c.mapping, c.scalar.node)
	if index < 0 {
		return replacement{}, errKeyLayout
	}
	key, value := c.mapping.Content[index], c.mapping.Content[index+1]
	if hasComment(key) || hasComment(value) {
		return replacement{}, errKeyComment
	}
	stream := c.scalar.stream
	start, err := stream.offset(key.Line, key.Column)
	if err != nil {
		return replacement{}, err
	}
	token, err := stream.span(value)
	if err != nil {
		return replacement{}, err
	}
	pair := span{start, token.end}
	if c.mapping.Style&yaml.FlowStyle != 0 {
		return stream.withoutPair(c.mapping, index, pair)
	}
	return stream.withoutLine(pair)
}

// withoutPair removes a pair from a flow mapping together with the gap on one
// side.
func (s *stream) withoutPair(m *yaml.Node, index int, pair span) (replacement, error) {
	if index+2 < len(m.Content) {
		next, err := s.offset(m.Content[index+2].Line, m.Content[index+2].Column)
		return replacement{s, span{pair.start, next}, ""}, err
	}
	if index == 0 {
		return replacement{}, errKeyLayout
	}
	before, err := s.span(m.Content[index-1])
	return replacement{s, span{before.end, pair.end}, ""}, err
}

// withoutLine removes a line that contains only the pair.
func (s *stream) withoutLine(pair span) (replacement, error) {
	start := pair.start
	for start > 0 && s.data[start-1] == ' ' {
		start--
	}
	end := s.lineEnd(pair.end)
	if start > 0 && !s.startsLine(start) {
		return replacement{}, errKeyFirst
	}
	switch rest := bytes.TrimLeft(s.data[pair.end:end], " \t"); {
	case bytes.HasPrefix(rest, []byte("#")):
		return replacement{}, errKeyComment
	case len(rest) > 0:
		return replacement{}, errKeyLayout
	}
	if end == len(s.data) && start > 0 {
		return replacement{s, span{s.lineEndBefore(start), end}, ""}, nil
	}
	return replacement{s, span{start, s.nextLine(pair.end)}, ""}, nil
}

// startsLine reports whether a line starts at the offset.
func (s *stream) startsLine(at int) bool {
	c := s.data[at-1]
	return c == '\n' || c == '\r'
}

// lineEndBefore returns the start of the line break that ends immediately
// before the offset.
func (s *stream) lineEndBefore(at int) int {
	at--
	if at > 0 && s.data[at] == '\n' && s.data[at-1] == '\r' {
		at--
	}
	return at
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
