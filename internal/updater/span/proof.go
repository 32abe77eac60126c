package span

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

var errOtherNodes = errors.New("the result would have other nodes than the file")

// Prove parses the content of a rewritten file and returns an error if its
// documents and nodes differ from those of the old file by more or less than the
// changes.
func Prove(old *Stream, changes []Change, content []byte) error {
	return newProof(changes).stream(old, content)
}

// proof compares a rewritten file with the intended result: the same documents
// and nodes, except for the intended scalars.
type proof struct {
	values  map[*yaml.Node]string   // old scalars and their intended values
	added   map[*yaml.Node][]Change // by mapping
	removed map[*yaml.Node]bool     // old values whose pairs are removed
	renamed map[*yaml.Node]string   // old values and their intended keys
	inner   map[*yaml.Node]*Stream  // old scalars whose text is a changed stream
	anchors map[*yaml.Node]*yaml.Node
	// loose are the nodes of a pair that gets its first value. The parser
	// attaches the comment after "key:" to the key, and after "key: value" to
	// the value.
	loose map[*yaml.Node]bool
}

// newProof collects the intended changes of one file.
func newProof(changes []Change) *proof {
	p := &proof{
		values:  map[*yaml.Node]string{},
		added:   map[*yaml.Node][]Change{},
		removed: map[*yaml.Node]bool{},
		renamed: map[*yaml.Node]string{},
		inner:   map[*yaml.Node]*Stream{},
		anchors: map[*yaml.Node]*yaml.Node{},
		loose:   map[*yaml.Node]bool{},
	}
	for _, c := range changes {
		switch c.action {
		case remove:
			p.removed[c.Scalar.Node] = true
		case rename:
			p.renamed[c.Scalar.Node], p.values[c.Scalar.Node] = c.key, c.Value
		case add:
			p.added[c.mapping] = append(p.added[c.mapping], c)
		default:
			p.values[c.Scalar.Node] = c.Value
		}
		for s := c.Scalar.Stream; s.block != nil; s = s.block.outer {
			p.inner[s.block.node] = s
		}
	}
	return p
}

// stream verifies the text of a stream.
func (p *proof) stream(old *Stream, data []byte) error {
	if old.IsText() {
		return p.nodes(old.Documents, ParseText(data, old.syntax).Documents)
	}
	documents, err := old.parseAgain(data)
	if err != nil {
		return fmt.Errorf("the result would not parse: %w", err)
	}
	return p.nodes(old.Documents, documents)
}

// parseAgain parses changed data as that of the stream was.
func (s *Stream) parseAgain(data []byte) ([]*yaml.Node, error) {
	if s.mask != nil {
		again, err := ParseTemplate(data, *s.mask)
		return again.Documents, err
	}
	return parse(data)
}

func (p *proof) nodes(old, now []*yaml.Node) error {
	if len(old) != len(now) {
		return errOtherNodes
	}
	for i := range old {
		if err := p.node(old[i], now[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *proof) node(old, now *yaml.Node) error {
	if old.Kind != now.Kind || old.Anchor != now.Anchor {
		return errOtherNodes
	}
	if !sameComments(old, now) && !p.loose[old] {
		return fmt.Errorf("the comments at line %d would change", old.Line)
	}
	if old.Anchor != "" {
		p.anchors[old] = now
	}
	switch old.Kind {
	case yaml.ScalarNode:
		return p.scalar(old, now)
	case yaml.AliasNode:
		if p.anchors[old.Alias] != now.Alias || old.Value != now.Value {
			return errOtherNodes
		}
		return nil
	}
	if old.Tag != now.Tag || old.Style != now.Style {
		return errOtherNodes
	}
	if old.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(old.Content); i += 2 {
			if _, set := p.values[old.Content[i+1]]; set && old.Content[i+1].Value == "" {
				p.loose[old.Content[i]], p.loose[old.Content[i+1]] = true, true
			}
		}
		return p.mapping(old, now)
	}
	return p.nodes(old.Content, now.Content)
}

func sameComments(a, b *yaml.Node) bool {
	return a.HeadComment == b.HeadComment && a.LineComment == b.LineComment && a.FootComment == b.FootComment
}

// mapping compares the pairs of a mapping, including added and removed ones.
func (p *proof) mapping(old, now *yaml.Node) error {
	if len(p.added[old]) == 0 && len(p.removed) == 0 && len(p.renamed) == 0 {
		return p.nodes(old.Content, now.Content)
	}
	rest := now.Content
	for i := 0; i+1 < len(old.Content); i += 2 {
		value := old.Content[i+1]
		if !p.removed[value] {
			if len(rest) < 2 {
				return errOtherNodes
			}
			if err := p.nodes(p.pair(old.Content[i], value), rest[:2]); err != nil {
				return err
			}
			rest = rest[2:]
		}
		for _, c := range p.added[old] {
			if c.Scalar.Node == value {
				if len(rest) < 2 || !isPair(rest[0], rest[1], c) {
					return errOtherNodes
				}
				rest = rest[2:]
			}
		}
	}
	if len(rest) > 0 {
		return errOtherNodes
	}
	return nil
}

// pair returns an old pair with its intended key.
func (p *proof) pair(key, value *yaml.Node) []*yaml.Node {
	if name, renamed := p.renamed[value]; renamed {
		other := *key
		other.Value = name
		key = &other
	}
	return []*yaml.Node{key, value}
}

// isPair reports whether a new pair is the intended one.
func isPair(key, value *yaml.Node, c Change) bool {
	return key.Value == c.key && value.Kind == yaml.ScalarNode && value.Value == c.Value && value.Tag == "!!str" &&
		!hasComment(key) && !hasComment(value)
}

// scalar compares a scalar: it must be unchanged or have its intended value.
func (p *proof) scalar(old, now *yaml.Node) error {
	if inner := p.inner[old]; inner != nil && old.Tag == now.Tag && old.Style == now.Style {
		return p.stream(inner, []byte(now.Value))
	}
	value, changes := p.values[old]
	if !changes {
		if old.Value != now.Value || old.Style != now.Style || old.Style&yaml.TaggedStyle != 0 && old.Tag != now.Tag {
			return fmt.Errorf("the value at line %d would change", old.Line)
		}
		return nil
	}
	if isBlock(old) {
		value += old.Value[len(strings.TrimRight(old.Value, "\n")):]
	}
	if now.Value != value || !textAs(old, now) {
		return fmt.Errorf("the value at line %d would not be the requested text", old.Line)
	}
	return nil
}

// textAs reports whether a changed scalar is text, in the style of the old one
// or in quotes that keep it text.
func textAs(old, now *yaml.Node) bool {
	if old.Style&yaml.TaggedStyle != 0 {
		return old.Tag == now.Tag && now.Style&yaml.TaggedStyle != 0
	}
	quoted := old.Style == 0 && now.Style == yaml.DoubleQuotedStyle
	return now.Tag == "!!str" && (old.Style == now.Style || quoted)
}
