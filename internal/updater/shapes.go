package updater

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/updater/node"
)

// shape is one form in which files contain references. Each shape has either a
// mapping or a scalar function. It reads the document and puts what it finds into
// the sink.
type shape struct {
	name edit.Shape
	// keys are the keys of which a mapping must have at least one to match the
	// shape.
	keys []string
	// mapping inspects a matching mapping before its values are visited.
	mapping func(d *document, out *sink, m *yaml.Node)
	// scalar inspects a scalar value that no shape has claimed. It reports
	// whether the shape claims the scalar, so that later shapes are skipped.
	scalar func(d *document, out *sink, n *yaml.Node) bool
	// literals are texts for which a file must be read even if it contains no
	// followed name, because another file needs its content.
	literals []string
}

// knownShapes returns all shapes that are found without configuration.
// docs/writing.md has a line for each. The first scalar shape that claims a
// scalar wins. This is a function rather than a variable because a shape may
// walk with all of them recursively.
func knownShapes() []shape {
	return []shape{
		{name: shapeKustomize, keys: []string{"images"}, mapping: findKustomizeImages},
		{name: shapeRemote, keys: []string{"images"}, mapping: findRemotes},
		{name: shapeHelmRelease, keys: []string{"apiVersion"}, mapping: findHelmRelease},
		{name: shapeOCIRepository, keys: []string{"apiVersion"}, mapping: findOCIRepository},
		{name: shapeHelmRepository, keys: []string{"apiVersion"}, mapping: findHelmRepository, literals: []string{kindHelmRepository}},
		{name: shapeArgoSource, keys: []string{"targetRevision"}, mapping: findArgoSource},
		{name: shapeArgoParameters, keys: []string{"parameters"}, mapping: findArgoParameters},
		{name: shapeArgoParameters, keys: []string{"valuesObject"}, mapping: findArgoValuesObject},
		{name: shapeHelmfile, keys: helmfileKeys, mapping: findHelmfileSet},
		{name: shapeOpenShift, keys: []string{"parameters"}, mapping: findOpenShiftTemplate},
		{name: shapeChartDependency, keys: []string{"version"}, mapping: findChartDependencies},
		{name: shapeHelmValues, keys: helmValuesKeys, mapping: findHelmValues},
		{name: shapeHelmSet, scalar: findHelmSet},
		{name: shapeReference, scalar: findReference},
		{name: shapeNested, scalar: findNested},
	}
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

// of returns the shapes that inspect the mapping. Keys that it gets from another
// mapping with a merge key count, one level deep.
func (x *shapeSet) of(m *yaml.Node) (bits uint64) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		bits |= x.byKey[m.Content[i].Value]
		if !node.IsMerge(m.Content[i]) {
			continue
		}
		for _, source := range node.MergeSources(m.Content[i+1]) {
			for j := 0; j+1 < len(source.Content); j += 2 {
				bits |= x.byKey[source.Content[j].Value]
			}
		}
	}
	return bits
}
