// Package shapes finds the references to followed artifacts in one file.
//
// A shape is a form in which files contain references, such as the images of a kustomization.
// Each has a function that inspects a mapping or a scalar of the document, and one row in the
// table knownShapes. What it finds goes to the sink of the file: sites, whose edits package
// site determines, refusals of what cannot be changed, and notes. Markers and write entries
// name locations that no shape finds.
package shapes

import (
	"bytes"
	"path"
	"regexp"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
	"promoter/internal/updater/span"
)

// Finder runs the shapes on files.
type Finder struct {
	follower Follower
	shapes   *shapeSet
}

// New returns a finder of what the follower follows.
func New(follower Follower) *Finder {
	return &Finder{follower: follower, shapes: newShapeSet(knownShapes())}
}

// Literals returns texts of which every file with a reference contains at least one, or
// nothing if any file may contain one.
func (f *Finder) Literals() []string {
	literals := f.follower.Literals()
	if len(literals) == 0 {
		return nil
	}
	literals = append([]string{lex.OwnMarker, lex.FluxMarker}, literals...)
	for _, shape := range f.shapes.all {
		literals = append(literals, shape.literals...)
	}
	return literals
}

// Find runs the shapes on a parsed file.
func (f *Finder) Find(file string, stream *span.Stream, writes []Write, known Sources) Findings {
	d := &document{file: file, stream: stream, follower: f.follower, sources: known, shapes: f.shapes, indexes: newIndexes()}
	d.aliased = bytes.IndexByte(stream.Data, '&') >= 0 && bytes.IndexByte(stream.Data, '*') >= 0
	if IsForeignFile(file) {
		d = d.onlyMarkers()
	}
	out := newSink(file, stream.Data)
	addWrites(d, out, writes)
	findComposeEnv(d, out)
	for _, root := range stream.Documents {
		d.walk(root, out)
	}
	return out.finish()
}

// splitName matches a key with a value that is one half of a reference whose
// other half is elsewhere, or a registry URL.
var splitName = regexp.MustCompile(`(?i)(?:registry|hub|repository|repo|tag|digest|sha|sha256|chart)["']?[ \t]*:[ \t]*` +
	`["']?[^\s"'{}\[\],|>#]|oci://`)

// MayFind reports whether an unparsed file that contains a followed name may contain a
// reference. Bundles of CRDs and dashboards contain words such as web or operator in
// prose. Only a name that is complete on its line is compared; halves of a name may
// belong together anywhere in the file.
func (f *Finder) MayFind(file string, content []byte) bool {
	if lex.MayHaveMarkers(content) || splitName.Match(content) {
		return true
	}
	for line := range bytes.Lines(content) {
		for name := range lex.Mentions(string(line)) {
			if _, found := followName(f.follower, file, name); found {
				return true
			}
		}
	}
	return false
}

// escapes matches what may stand for any character in a quoted value.
var escapes = regexp.MustCompile(`\\[xuU]`)

// MayFindComponent reports whether a file that was not parsed may contain a reference to a
// component: every spelling of one that a shape finds contains the last segment of the
// repository, and a marker contains the name. The repositories that a file declares for
// the charts of other files may be those of any component.
func MayFindComponent(content []byte, component string, repository image.Repository) bool {
	contains := func(text string) bool { return bytes.Contains(content, []byte(text)) }
	return contains(path.Base(repository.Path())) || lex.MayHaveMarkers(content) && contains(component) ||
		contains(kindHelmRepository) || contains(aliasLiteral) || escapes.Match(content)
}

// shape is one form in which files contain references. Each shape has either a
// mapping or a scalar function. It reads the document and puts what it finds into
// the sink.
type shape struct {
	name edit.Shape
	// keys are the keys of which a mapping must have at least one to match the
	// shape.
	keys []string
	// version reports that a mapping matches that has a key with a prefix before a word for
	// a version, as in webTag.
	version bool
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
		{name: shapeHelmRelease, keys: []string{"kind"}, mapping: findHelmRelease},
		{name: shapeOCIRepository, keys: []string{"kind"}, mapping: findOCIRepository},
		{name: shapeHelmRepository, keys: []string{"apiVersion"}, mapping: findHelmRepository, literals: []string{kindHelmRepository}},
		{name: shapeArgoSource, keys: []string{"targetRevision"}, mapping: findArgoSource},
		{name: shapeArgoParameters, keys: []string{"parameters"}, mapping: findArgoParameters},
		{name: shapeArgoParameters, keys: []string{"valuesObject"}, mapping: findArgoValuesObject},
		{name: shapeHelmfile, keys: helmfileKeys, mapping: findHelmfileSet},
		{name: shapeOpenShift, keys: []string{"parameters"}, mapping: findOpenShiftTemplate},
		{name: shapeChartRepositories, keys: []string{"repositories"}, mapping: findChartRepositories, literals: []string{aliasLiteral}},
		{name: shapeChartDependency, keys: chartVersionKeys, mapping: findChartDependencies},
		{name: shapeHelmValues, keys: helmValuesKeys, mapping: findHelmValues},
		{name: shapeHelmValues, version: true, mapping: findPrefixed},
		{name: shapeHelmSet, scalar: findHelmSet},
		{name: shapeTemplateDefault, scalar: findTemplateDefault},
		{name: shapeReference, scalar: findReference},
		{name: shapeNested, scalar: findNested},
		{name: shapeCommand, scalar: findCommand},
	}
}

// shapeSet is a list of shapes in evaluation order.
type shapeSet struct {
	all   []shape
	byKey map[string]uint64 // the shapes that inspect a mapping with the key, one bit each
	// version are the shapes that inspect a mapping with a key that ends in a word for a version.
	version uint64
}

func newShapeSet(all []shape) *shapeSet {
	set := &shapeSet{all: all, byKey: map[string]uint64{}}
	for i, shape := range all {
		for _, key := range shape.keys {
			set.byKey[key] |= 1 << i
		}
		if shape.version {
			set.version |= 1 << i
		}
	}
	return set
}

// of returns the shapes that inspect the mapping. Keys that it gets from another
// mapping with a merge key count, one level deep.
func (x *shapeSet) of(m *yaml.Node) (bits uint64) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		bits |= x.byKey[m.Content[i].Value]
		if bits&x.version == 0 && endsInVersion(m.Content[i].Value) {
			bits |= x.version
		}
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

// Follower defines which repositories are followed in which files.
type Follower interface {
	// Follow returns the component for the repository in the file.
	Follow(file string, repository image.Repository) (site.Followed, bool)
	// Named returns the component with the name used in a marker.
	Named(file, component string) (site.Followed, bool)
	// Literals returns texts of which every file with a reference contains at
	// least one, such as the last segments of repositories. If it returns none,
	// any file may contain a reference.
	Literals() []string
}
