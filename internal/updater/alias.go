package updater

import (
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// noteAliases reports the aliases that change along with their anchors. The
// anchor may be on a changed scalar or on a mapping that contains it.
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

// aliases finds the aliases of changed nodes.
type aliases struct {
	changed map[*yaml.Node]bool
	moved   map[*yaml.Node]bool // anchored nodes that contain a change
	found   []*yaml.Node
}

// visit reports whether the node contains a change. Anchors precede their
// aliases, so a single walk is enough.
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
