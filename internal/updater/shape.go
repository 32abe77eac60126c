package updater

import (
	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
)

// shape is one form in which references stand in files. Mapping and scalar are
// how it finds them; a shape has one of the two.
type shape struct {
	name edit.Shape
	// keys are those of which a mapping must have at least one for the shape to
	// look at it.
	keys []string
	// mapping looks at such a mapping, before its values are visited.
	mapping func(f *finder, m *yaml.Node)
	// scalar looks at a scalar that is a value and that no shape has claimed. It
	// says whether the scalar is its own, so that later shapes are not asked.
	scalar func(f *finder, n *yaml.Node) bool
	// literals are texts for which a file must be read even if it holds no
	// followed name, because another file needs what it says.
	literals []string
}

// shapeIndex says which shapes look at a mapping with a key, one bit each.
type shapeIndex map[string]uint64

func newShapeIndex(all []shape) shapeIndex {
	index := shapeIndex{}
	for i, shape := range all {
		for _, key := range shape.keys {
			index[key] |= 1 << i
		}
	}
	return index
}

// of returns the shapes that look at the mapping.
func (x shapeIndex) of(m *yaml.Node) (bits uint64) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		bits |= x[m.Content[i].Value]
		if isMerge(m.Content[i]) {
			bits |= x.ofMerged(m.Content[i+1])
		}
	}
	return bits
}

// ofMerged returns the shapes that look at what a merge key brings in, one level
// deep.
func (x shapeIndex) ofMerged(n *yaml.Node) (bits uint64) {
	for _, source := range mergeSources(n) {
		for i := 0; i+1 < len(source.Content); i += 2 {
			bits |= x[source.Content[i].Value]
		}
	}
	return bits
}
