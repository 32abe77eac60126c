package rendered

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/fault"
)

// Limits of aliases. A few lines can describe billions of values.
const (
	maxAliased    = 200_000 // values that aliases repeat in the manifests of a root
	maxAliasDepth = 100     // aliases in what aliases repeat
)

// resolver copies documents without what YAML has besides values: comments, anchors, aliases, and
// merge keys. Comments can contain what a value was before, and are not applied.
type resolver struct {
	// origin is the value that a copy was made from. Copies of one value have one origin.
	origin map[*yaml.Node]*yaml.Node
	// secret is mappings of which the kind is Secret where a merge key takes their values from.
	secret  map[*yaml.Node]bool
	aliased int // how many values aliases repeated
	depth   int // of aliases that the current value is in
	first   int // line of the document
}

// copyDocument returns a copy of a document.
func (r *resolver) copyDocument(n *yaml.Node) (*yaml.Node, error) {
	r.first = n.Line
	return r.copyOf(n)
}

// copyOf returns a copy of a value in the document.
func (r *resolver) copyOf(n *yaml.Node) (*yaml.Node, error) {
	if n.Kind == yaml.AliasNode {
		// The parser knows the anchors of earlier documents, and what is hidden there is not known here.
		// https://yaml.org/spec/1.2.2/#71-alias-nodes
		if n.Alias.Line < r.first {
			return nil, fault.New(fault.Invalid, "line %d of the manifests has an alias of another document: they are not shown", n.Line)
		}
		if r.depth == maxAliasDepth {
			const problem = "line %d of the manifests has an alias in more than %d others: they are not shown"
			return nil, fault.New(fault.Invalid, problem, n.Line, maxAliasDepth)
		}
		r.depth++
		defer func() { r.depth-- }()
		return r.copyOf(n.Alias)
	}
	if r.depth > 0 {
		r.aliased++
		if r.aliased > maxAliased {
			return nil, fault.New(fault.Invalid, "the aliases of the manifests repeat more than %d values: they are not shown", maxAliased)
		}
	}
	made := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value, Line: n.Line}
	r.origin[made] = n
	if n.Kind == yaml.MappingNode {
		return made, r.copyFields(made, n)
	}
	for _, child := range n.Content {
		copied, err := r.copyOf(child)
		if err != nil {
			return nil, err
		}
		made.Content = append(made.Content, copied)
	}
	return made, nil
}

// copyFields copies the fields of a mapping, and then those of its merge keys, which set only what
// is not set yet. A field that is given twice stays twice.
func (r *resolver) copyFields(made, n *yaml.Node) error {
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := r.copyOf(n.Content[i])
		if err != nil {
			return err
		}
		value, err := r.copyOf(n.Content[i+1])
		switch {
		case err != nil:
			return err
		case key.Tag != "!!merge":
			made.Content = append(made.Content, key, value)
		case value.Kind == yaml.MappingNode:
			merged = append(merged, value)
		default:
			merged = append(merged, value.Content...)
		}
	}
	for _, from := range merged {
		if from.Kind != yaml.MappingNode {
			return fault.New(fault.Invalid, "line %d of the manifests merges what is no mapping: they are not shown", n.Line)
		}
		if r.secret[from] || isSecret(from) {
			r.secret[made] = true // also if the kind is another one here
		}
		for i := 0; i+1 < len(from.Content); i += 2 {
			if !hasField(made, from.Content[i]) {
				made.Content = append(made.Content, from.Content[i], from.Content[i+1])
			}
		}
	}
	return nil
}

// hasField reports whether a mapping has a key. Keys that are not scalars differ.
func hasField(mapping, key *yaml.Node) bool {
	for i := 0; i < len(mapping.Content); i += 2 {
		if one := mapping.Content[i]; one.Kind == yaml.ScalarNode && key.Kind == yaml.ScalarNode && one.Value == key.Value {
			return true
		}
	}
	return false
}

// isSecret reports whether a mapping is a Secret: its kind, in any case, or one of its kinds.
func isSecret(mapping *yaml.Node) bool {
	for _, kind := range fieldsOf(mapping, "kind") {
		if strings.EqualFold(nameIn(kind), "Secret") {
			return true
		}
	}
	return false
}
