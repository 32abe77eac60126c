package updater

import (
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// noteAliases reports the aliases that change along with their anchors. An anchor
// may stand on a changed scalar or on a mapping around it.
func (r *rewriter) noteAliases(changes []change) {
	streams := map[*stream]map[*yaml.Node]bool{}
	for _, c := range changes {
		for s, n := c.scalar.stream, c.scalar.node; ; s, n = s.holder.stream, s.holder.node {
			if streams[s] == nil {
				streams[s] = map[*yaml.Node]bool{}
			}
			streams[s][n] = true
			if s.holder == nil {
				break
			}
		}
	}
	for s, changed := range streams {
		a := aliases{changed: changed, moved: map[*yaml.Node]bool{}}
		for _, document := range s.documents {
			a.visit(document)
		}
		for _, n := range a.found {
			position := scalar{s, n}.position(r.file)
			r.result.Notes = append(r.result.Notes, Note{
				Position: position,
				Text:     fmt.Sprintf("*%s changes along with its anchor &%s in line %d", shorten(n.Value), shorten(n.Value), n.Alias.Line),
			})
		}
	}
}

// aliases finds the aliases of what has changed.
type aliases struct {
	changed map[*yaml.Node]bool
	moved   map[*yaml.Node]bool // anchored nodes that hold something changed
	found   []*yaml.Node
}

// visit says whether something changed stands in the node. Anchors stand before
// their aliases, so one walk is enough.
func (a *aliases) visit(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		if a.moved[n.Alias] {
			a.found = append(a.found, n)
		}
		return false
	}
	changed := a.changed[n]
	for _, child := range n.Content {
		changed = a.visit(child) || changed
	}
	if changed && n.Anchor != "" {
		a.moved[n] = true
	}
	return changed
}
