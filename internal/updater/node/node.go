// Package node reads values from parsed YAML. It resolves aliases and merge keys,
// and follows paths.
package node

import "sigs.k8s.io/kustomize/kyaml/yaml"

// maxMerges limits how many mappings one lookup reads through merge keys,
// because hostile files multiply them.
const maxMerges = 64

// Resolve returns the target of an alias, or the node itself.
func Resolve(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// Get returns the value of a key in a mapping, or nil. It resolves aliases.
// If a key is duplicated, the last one wins, as in parsers that allow
// duplicates. Own keys take precedence over merged ones.
func Get(m *yaml.Node, key string) *yaml.Node {
	budget := maxMerges
	return getMerged(m, key, &budget)
}

func getMerged(m *yaml.Node, key string, budget *int) *yaml.Node {
	if m = Resolve(m); m == nil || m.Kind != yaml.MappingNode || *budget == 0 {
		return nil
	}
	*budget--
	for i := len(m.Content) - 2; i >= 0; i -= 2 {
		if m.Content[i].Value == key && m.Content[i].Kind == yaml.ScalarNode {
			return Resolve(m.Content[i+1])
		}
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if !IsMerge(m.Content[i]) {
			continue
		}
		for _, source := range MergeSources(m.Content[i+1]) {
			if found := getMerged(source, key, budget); found != nil {
				return found
			}
		}
	}
	return nil
}

// At follows keys through nested mappings.
func At(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		n = Get(n, key)
	}
	return n
}

// Text returns the value of the scalar at the keys, or "".
func Text(n *yaml.Node, keys ...string) string {
	if found := At(n, keys...); IsScalar(found) {
		return found.Value
	}
	return ""
}

// IsScalar reports whether the node is a scalar.
func IsScalar(n *yaml.Node) bool { return n != nil && n.Kind == yaml.ScalarNode }

// IsText reports whether the node is a scalar that is neither empty nor null.
func IsText(n *yaml.Node) bool { return IsScalar(n) && n.Value != "" && n.Tag != "!!null" }

// IsMerge reports whether a key is a merge key, <<.
func IsMerge(key *yaml.Node) bool { return key.Tag == "!!merge" }

// MergeSources returns the mappings that a merge key refers to.
func MergeSources(value *yaml.Node) []*yaml.Node {
	value = Resolve(value)
	if value.Kind == yaml.MappingNode {
		return []*yaml.Node{value}
	}
	if value.Kind != yaml.SequenceNode {
		return nil
	}
	sources := make([]*yaml.Node, 0, len(value.Content))
	for _, item := range value.Content {
		if item = Resolve(item); item.Kind == yaml.MappingNode {
			sources = append(sources, item)
		}
	}
	return sources
}

// Duplicate returns the second occurrence of a key in a mapping, or nil.
func Duplicate(m *yaml.Node, key string) *yaml.Node {
	seen := false
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value != key {
			continue
		}
		if seen {
			return m.Content[i]
		}
		seen = true
	}
	return nil
}

// FirstText returns the first value that is not empty among the keys of a
// mapping, or "".
func FirstText(m *yaml.Node, keys ...string) string {
	for _, key := range keys {
		if text := Text(m, key); text != "" {
			return text
		}
	}
	return ""
}
