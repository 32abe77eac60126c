package updater

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
)

// shape is one form in which files contain references. Each shape has either a
// mapping or a scalar function.
type shape struct {
	name edit.Shape
	// keys are the keys of which a mapping must have at least one to match the
	// shape.
	keys []string
	// mapping inspects a matching mapping before its values are visited.
	mapping func(f *finder, m *yaml.Node)
	// scalar inspects a scalar value that no shape has claimed. It reports
	// whether the shape claims the scalar, so that later shapes are skipped.
	scalar func(f *finder, n *yaml.Node) bool
	// literals are texts for which a file must be read even if it contains no
	// followed name, because another file needs its content.
	literals []string
}

// shapeSet is a list of shapes in evaluation order.
type shapeSet struct {
	all   []shape
	byKey map[string]uint64 // the shapes that inspect a mapping with the key, one bit each
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

// of returns the shapes that inspect the mapping.
func (x *shapeSet) of(m *yaml.Node) (bits uint64) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		bits |= x.byKey[m.Content[i].Value]
		if isMerge(m.Content[i]) {
			bits |= x.ofMerged(m.Content[i+1])
		}
	}
	return bits
}

// ofMerged returns the shapes that inspect the mappings of a merge key, one
// level deep.
func (x *shapeSet) ofMerged(n *yaml.Node) (bits uint64) {
	for _, source := range mergeSources(n) {
		for i := 0; i+1 < len(source.Content); i += 2 {
			bits |= x.byKey[source.Content[i].Value]
		}
	}
	return bits
}
