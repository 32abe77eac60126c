package updater

import (
	"errors"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
)

// shapeNested is YAML inside a block scalar. References found in it have their
// own shapes.
const shapeNested edit.Shape = "nested"

// maxNesting is the maximum depth of YAML in YAML. A ConfigMap in the values of
// an Application in a patch has depth two.
const maxNesting = 4

// findNested inspects literal block scalars whose text is YAML with a mapping
// or a list, such as helm.values, patches and files in ConfigMaps. Other text
// is prose or a script and is not changed.
func findNested(f *finder, n *yaml.Node) bool {
	if !strings.Contains(n.Value, ":") {
		return false
	}
	inner, err := f.hold(n)
	if err != nil {
		f.refuseHeld(n, err)
		return false
	}
	if !inner.isStructured() {
		return false
	}
	f.walkInside(inner)
	return true
}

// Reasons why the text of a scalar is not inspected.
var (
	errNoBlock = errors.New("it is no literal block (|)")
	errNesting = errors.New("too many blocks stand in each other")
)

// hold parses the text of a literal block scalar.
func (f *finder) hold(n *yaml.Node) (*stream, error) {
	switch {
	case n.Style&yaml.LiteralStyle == 0:
		return nil, errNoBlock
	case f.stream.depth() >= maxNesting:
		return nil, errNesting
	default:
		return f.stream.hold(n)
	}
}

// manifestKeys are keys whose text is YAML or JSON by definition: values and
// patches of Argo CD, Flux, kustomize and k3s.
var manifestKeys = []string{"values", "valuesContent", "patch", "templatePatch"}

// refuseHeld refuses text that must be YAML, mentions a followed repository,
// and cannot be edited.
func (f *finder) refuseHeld(n *yaml.Node, problem error) {
	key := f.key()
	if extension := path.Ext(key); extension != ".yaml" && extension != ".yml" && extension != ".json" && !slices.Contains(manifestKeys, key) {
		return
	}
	for line := range strings.Lines(n.Value) {
		if isComment([]byte(line)) {
			continue
		}
		for name := range mentions(line) {
			if followed, found := f.follow(name); found {
				f.refuse(n, followed.Component, "the text under %s mentions %s and cannot be edited: %v", shorten(key), name, problem)
				return
			}
		}
	}
}

// depth returns the nesting depth of the stream.
func (s *stream) depth() (depth int) {
	for ; s.holder != nil; s = s.holder.stream {
		depth++
	}
	return depth
}

// isStructured reports whether every non-empty document is a mapping or a list,
// and at least one exists.
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

// walkInside visits a stream inside a scalar and then returns to the outer one.
func (f *finder) walkInside(inner *stream) {
	outer, keys, parents := f.stream, f.keys, f.parents
	f.stream, f.keys, f.parents = inner, nil, nil
	for _, document := range inner.documents {
		f.walk(document)
	}
	f.stream, f.keys, f.parents = outer, keys, parents
}
