package updater

import (
	"errors"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

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

// Why the text of a scalar is not looked into.
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

// manifestKeys are keys whose text is YAML or JSON by their meaning: values and
// patches of Argo CD, Flux, kustomize and k3s.
var manifestKeys = []string{"values", "valuesContent", "patch", "templatePatch"}

// refuseHeld refuses text that must be YAML, mentions a followed repository and
// cannot be edited.
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
