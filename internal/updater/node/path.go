package node

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/config/field"
)

// Follow returns the node at a path below n, or nil.
func Follow(n *yaml.Node, path field.YAMLPath) *yaml.Node {
	for _, step := range path {
		if n = next(Resolve(n), step); n == nil {
			return nil
		}
	}
	return n
}

// next returns what a step selects in a node, or nil.
func next(n *yaml.Node, step field.YAMLStep) *yaml.Node {
	switch {
	case !step.Entry:
		return Get(n, step.Key)
	case n == nil || n.Kind != yaml.SequenceNode:
		return nil
	case step.Where == "":
		if step.Index < len(n.Content) {
			return Resolve(n.Content[step.Index])
		}
		return nil
	}
	for _, item := range n.Content {
		if item = Resolve(item); Text(item, step.Where) == step.Is {
			return item
		}
	}
	return nil
}
