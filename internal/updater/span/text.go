package span

import (
	"errors"
	"fmt"
	"sort"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Syntax reads the values of text that is not YAML, and returns them as documents whose scalars
// are plain nodes of the stream. It must depend on nothing but the text: Prove reads the changed
// text with it, and it must find the same values there, except for those that changed.
type Syntax func(s *Stream) []*yaml.Node

// ParseText returns the stream of a text that is not YAML.
func ParseText(data []byte, syntax Syntax) *Stream {
	s := Unparsed(data)
	s.syntax = syntax
	s.Documents = syntax(s)
	return s
}

// IsText reports whether the stream is text that is not YAML. A comment on a line of it is the line
// comment of the value.
func (s *Stream) IsText() bool { return s.syntax != nil }

// TextNode returns the plain node for bytes of a line.
func (s *Stream) TextNode(at Span) *yaml.Node {
	line := sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > at.Start })
	return &yaml.Node{
		Kind: yaml.ScalarNode, Tag: "!!str", Value: s.textOf(at), Line: line,
		Column: 1 + utf8.RuneCount(s.Data[s.lines[max(0, line-1)]:at.Start]),
	}
}

var errTextKey = errors.New("keys can be added and removed only in YAML and JSON")

// setText returns the replacement of a value in text that is not YAML. There, no style is known
// in which any value could be written, so only characters of versions and references may change.
func (c Change) setText() (Replacement, error) {
	s, n := c.Scalar.Stream, c.Scalar.Node
	start, err := s.offset(n.Line, n.Column)
	if err != nil {
		return Replacement{}, err
	}
	at := Span{start, start + len(n.Value)}
	if at.End > len(s.Data) || s.textOf(at) != n.Value {
		return Replacement{}, errSpan
	}
	if c.Value != "" && !plainIsSafe(c.Value) && !plainStaysSafe(n.Value, c.Value) {
		return Replacement{}, fmt.Errorf("the value %.120q has characters that cannot be written here", c.Value)
	}
	return Replacement{at, c.Value}, nil
}
