package updater

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

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

// shapeSet is shapes in the order in which they are asked.
type shapeSet struct {
	all   []shape
	byKey map[string]uint64 // the shapes that look at a mapping with the key, one bit each
}

func newShapeSet(all []shape) *shapeSet {
	set := &shapeSet{all: all, byKey: map[string]uint64{}}
	for i, shape := range all {
		for _, key := range shape.keys {
			set.byKey[key] |= 1 << i
		}
	}
	return set
}

// of returns the shapes that look at the mapping.
func (x *shapeSet) of(m *yaml.Node) (bits uint64) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		bits |= x.byKey[m.Content[i].Value]
		if isMerge(m.Content[i]) {
			bits |= x.ofMerged(m.Content[i+1])
		}
	}
	return bits
}

// ofMerged returns the shapes that look at what a merge key brings in, one level
// deep.
func (x *shapeSet) ofMerged(n *yaml.Node) (bits uint64) {
	for _, source := range mergeSources(n) {
		for i := 0; i+1 < len(source.Content); i += 2 {
			bits |= x.byKey[source.Content[i].Value]
		}
	}
	return bits
}
