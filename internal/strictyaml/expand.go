package strictyaml

import (
	"bytes"
	"fmt"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"promoter/internal/fault"
)

// Mapping is a mapping of a file without anchors, aliases, and merge keys: each value is where
// it has its effect. Its keys are in the order of the file.
type Mapping struct{ node *Node }

// Expand returns the root of a file. Comments are left out, and so are keys of the root with the
// prefix x-, which hold anchors. It returns an error if the file cannot be decoded, or is larger
// than MaxSize after that.
func Expand(file string, data []byte) (Mapping, error) {
	report := &Report{}
	root := parse(file, data, report)
	if root == nil {
		return Mapping{}, report.Problems().Err()
	}
	x := expansion{decoder: &Decoder{Report: report, Key: "the file", file: file, left: maxValues}, bytes: MaxSize}
	if root = resolve(root); root.Kind != yaml.MappingNode {
		x.decoder.WrongType(root, "a mapping")
	}
	expanded := x.expand(root)
	if report.Failed() {
		return Mapping{}, report.Problems().Err()
	}
	if x.bytes < 0 {
		return Mapping{}, fault.New(fault.Invalid, "%s expands to more than %d bytes", file, MaxSize)
	}
	kept := expanded.Content[:0]
	for i := 0; i+1 < len(expanded.Content); i += 2 {
		if !strings.HasPrefix(expanded.Content[i].Value, "x-") {
			kept = append(kept, expanded.Content[i], expanded.Content[i+1])
		}
	}
	expanded.Content = kept
	return Mapping{expanded}, nil
}

// expansion copies nodes up to a size: an alias may repeat a long text many times.
type expansion struct {
	decoder *Decoder
	bytes   int // that are left
}

func (x *expansion) expand(n *Node) *Node {
	n = resolve(n)
	if !x.decoder.spend(n) {
		return &Node{Kind: yaml.ScalarNode}
	}
	copied := &Node{Kind: n.Kind, Tag: n.ShortTag(), Value: n.Value, Style: n.Style &^ (yaml.FlowStyle | yaml.TaggedStyle)}
	if x.bytes -= len(n.Value); x.bytes < 0 {
		return copied
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			copied.Content = append(copied.Content, x.expand(item))
		}
	case yaml.MappingNode:
		pairs, _ := x.decoder.mapping(n)
		for _, p := range pairs {
			copied.Content = append(copied.Content, x.expand(p.key), x.expand(p.value))
		}
	}
	return copied
}

// value returns the value of a key; nil: there is none.
func (m Mapping) value(key string) *Node {
	for i := 0; m.node != nil && i+1 < len(m.node.Content); i += 2 {
		if m.node.Content[i].Value == key {
			return m.node.Content[i+1]
		}
	}
	return nil
}

// At returns the mapping of a key. It is empty, and SetDefault does nothing to it, if there is
// none.
func (m Mapping) At(key string) Mapping {
	if value := m.value(key); value != nil && value.Kind == yaml.MappingNode {
		return Mapping{value}
	}
	return Mapping{}
}

// SetDefault adds a key with a string, a number, or true or false, if the mapping has not got it.
func (m Mapping) SetDefault(key string, value any) error {
	if m.node == nil || m.value(key) != nil {
		return nil
	}
	var encoded Node
	if err := encoded.Encode(value); err != nil {
		return fault.Wrap(fault.Internal, fmt.Errorf("default of %s: %w", key, err))
	}
	m.node.Content = append(m.node.Content, &Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, &encoded)
	return nil
}

// YAML returns the mapping as a file.
func (m Mapping) YAML() ([]byte, error) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(m.node); err != nil {
		return nil, fault.Wrap(fault.Internal, err)
	}
	return text.Bytes(), nil
}
