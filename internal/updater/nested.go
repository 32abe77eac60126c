package updater

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
)

// shapeNested is YAML that a block scalar holds. What is found in it has the
// shapes of its own.
const shapeNested edit.Shape = "nested"

// maxNesting is how deep YAML in YAML is read: a ConfigMap in the values of an
// Application in a patch is two.
const maxNesting = 4

// findNested looks into literal block scalars whose text is YAML with a mapping
// or a list, such as helm.values, patches and files of ConfigMaps. Other text is
// prose or a script and stays.
func findNested(f *finder, n *yaml.Node) bool {
	if n.Style&yaml.LiteralStyle == 0 || !strings.Contains(n.Value, ":") || f.stream.depth() >= maxNesting {
		return false
	}
	inner, err := f.stream.hold(n)
	if err != nil || !inner.isStructured() {
		return false
	}
	f.walkInside(inner)
	return true
}

// depth is how many scalars the stream is held by.
func (s *stream) depth() (depth int) {
	for ; s.holder != nil; s = s.holder.stream {
		depth++
	}
	return depth
}

// isStructured says whether every document that says something is a mapping or a
// list, and one does.
func (s *stream) isStructured() bool {
	found := false
	for _, document := range s.documents {
		for _, root := range document.Content {
			switch {
			case root.Kind == yaml.MappingNode || root.Kind == yaml.SequenceNode:
				found = true
			case strings.TrimSpace(root.Value) != "":
				return false
			}
		}
	}
	return found
}

// walkInside visits a stream that a scalar holds and returns to the outer one.
func (f *finder) walkInside(inner *stream) {
	outer, keys, parents := f.stream, f.keys, f.parents
	f.stream, f.keys, f.parents = inner, nil, nil
	for _, document := range inner.documents {
		f.walk(document)
	}
	f.stream, f.keys, f.parents = outer, keys, parents
}
