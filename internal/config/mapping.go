package config

import (
	yaml "go.yaml.in/yaml/v3"
)

// pair is one key of a mapping with its value.
type pair struct{ key, value *yaml.Node }

// mapping returns the pairs of a mapping: its own in the order of the file, then
// those that merge keys (<<) bring and it does not have itself.
func (d *decoder) mapping(n *yaml.Node) ([]pair, bool) {
	if n.Kind != yaml.MappingNode {
		return nil, d.wrongType(n, "a mapping")
	}
	m := merger{decoder: d, seen: map[string]Position{}}
	m.collect(n, 0)
	return m.pairs, true
}

// merger collects the pairs of one mapping.
type merger struct {
	*decoder
	pairs []pair
	seen  map[string]Position
}

func (m *merger) collect(n *yaml.Node, depth int) {
	if depth > maxMerges {
		m.failf(m.position(n), "merge fewer anchors", "merge keys lead through more than %d anchors or back to themselves", maxMerges)
		return
	}
	var merged []*yaml.Node
	own := map[string]Position{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !m.spend(n.Content[i]) {
			return
		}
		key, value := n.Content[i], n.Content[i+1]
		if isMerge(key) {
			merged = append(merged, value)
			continue
		}
		m.take(key, value, own)
	}
	for _, value := range merged {
		m.merge(value, depth)
	}
}

// merge adds the pairs of one value of <<: a mapping or a list of mappings, of
// which the earlier win.
func (m *merger) merge(n *yaml.Node, depth int) {
	items := []*yaml.Node{n}
	if n = target(n); n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		if !m.spend(item) {
			return
		}
		if item = target(item); item.Kind != yaml.MappingNode {
			m.wrongType(item, "a mapping (behind <<)")
			continue
		}
		m.collect(item, depth+1)
	}
}

// target is the node that an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// take adds one pair. own holds the keys of the mapping that is being read, in
// which a key twice is a mistake; a key that an earlier mapping had wins.
func (m *merger) take(key, value *yaml.Node, own map[string]Position) {
	key = target(key)
	if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
		m.failf(m.position(key), "write a plain name and a colon", "a key of %s is not a text", m.key)
		return
	}
	if first, twice := own[key.Value]; twice {
		m.failf(m.position(key), "keep one of them", "the key %q stands twice in %s, first on line %d", key.Value, m.key, first.Line)
		return
	}
	own[key.Value] = m.position(key)
	if _, taken := m.seen[key.Value]; taken {
		return
	}
	m.seen[key.Value] = m.position(key)
	m.pairs = append(m.pairs, pair{key, value})
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.ShortTag() == "!!merge"
}

// wrongType reports a value of another kind than wanted, and returns false.
func (d *decoder) wrongType(n *yaml.Node, wanted string) bool {
	hint := "see docs/configuration.md"
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		hint = "give it a value or remove the key"
	}
	d.failf(d.position(n), hint, "%s must be %s, not %s", d.key, wanted, kindOf(n))
	return false
}

// kindOf names what stands there, never the value itself: it may be a secret.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!timestamp":
		return "a date"
	case "!!str":
		return "a text"
	default:
		return "a value of another type"
	}
}
