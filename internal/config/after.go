package config

import (
	yaml "go.yaml.in/yaml/v3"
)

// rawAfter is the parents of an environment: a list of names, or a mapping from
// a name to conditions. The list form replaces all that a lower layer says.
type rawAfter struct {
	place
	List    bool
	Parents named[*rawConditions]
}

func (a *rawAfter) decode(d *decoder, n *yaml.Node) {
	a.Position = d.position(n)
	if n.Kind == yaml.SequenceNode {
		a.List = true
		a.decodeList(d, n)
		return
	}
	if n.Kind != yaml.MappingNode {
		a.bad = !d.wrongType(n, "a list of environments or a mapping from environments to conditions")
		return
	}
	a.Parents.decode(d, n)
}

func (a *rawAfter) decodeList(d *decoder, n *yaml.Node) {
	var names list
	names.decode(d, n)
	for _, name := range names.Value {
		if name.ok() {
			a.Parents.Entries = append(a.Parents.Entries, entry[*rawConditions]{Key: name, Value: &rawConditions{place: name.place}})
		}
	}
}
