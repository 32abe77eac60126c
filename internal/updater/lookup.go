package updater

import "sigs.k8s.io/kustomize/kyaml/yaml"

// maxMerges limits how many mappings one lookup reads through merge keys,
// because hostile files multiply them.
const maxMerges = 64

// resolve returns the target of an alias, or the node itself.
func resolve(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// lookup returns the value of a key in a mapping, or nil. It resolves aliases.
// If a key is duplicated, the last one wins, as in parsers that allow
// duplicates. Own keys take precedence over merged ones.
func lookup(m *yaml.Node, key string) *yaml.Node {
	budget := maxMerges
	return lookupMerged(m, key, &budget)
}

func lookupMerged(m *yaml.Node, key string, budget *int) *yaml.Node {
	if m = resolve(m); m == nil || m.Kind != yaml.MappingNode || *budget == 0 {
		return nil
	}
	*budget--
	for i := len(m.Content) - 2; i >= 0; i -= 2 {
		if m.Content[i].Value == key && m.Content[i].Kind == yaml.ScalarNode {
			return resolve(m.Content[i+1])
		}
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if !isMerge(m.Content[i]) {
			continue
		}
		for _, source := range mergeSources(m.Content[i+1]) {
			if found := lookupMerged(source, key, budget); found != nil {
				return found
			}
		}
	}
	return nil
}

// lookupPath follows keys through nested mappings.
func lookupPath(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		n = lookup(n, key)
	}
	return n
}

// lookupText returns the value of the scalar at the keys, or "".
func lookupText(n *yaml.Node, keys ...string) string {
	if found := lookupPath(n, keys...); isScalar(found) {
		return found.Value
	}
	return ""
}

func isScalar(n *yaml.Node) bool { return n != nil && n.Kind == yaml.ScalarNode }

// isText reports whether the node is a scalar that is neither empty nor null.
func isText(n *yaml.Node) bool { return isScalar(n) && n.Value != "" && n.Tag != "!!null" }

func isMerge(key *yaml.Node) bool { return key.Tag == "!!merge" }

// mergeSources returns the mappings that a merge key refers to.
func mergeSources(value *yaml.Node) []*yaml.Node {
	value = resolve(value)
	if value.Kind == yaml.MappingNode {
		return []*yaml.Node{value}
	}
	if value.Kind != yaml.SequenceNode {
		return nil
	}
	sources := make([]*yaml.Node, 0, len(value.Content))
	for _, item := range value.Content {
		if item = resolve(item); item.Kind == yaml.MappingNode {
			sources = append(sources, item)
		}
	}
	return sources
}
