package shapes

import (
	"errors"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/span"
)

// shapeNested is YAML inside a block scalar. References found in it have their
// own shapes.
const shapeNested edit.Shape = "nested"

// maxNesting is the maximum depth of YAML in YAML. A ConfigMap in the values of
// an Application in a patch has depth two.
const maxNesting = 4

// Reasons why the text of a scalar is not inspected.
var (
	errNoBlock = errors.New("it is not a literal block (|)")
	errNesting = errors.New("too many blocks are nested")
)

// findNested inspects literal block scalars whose text is YAML with a mapping
// or a list, such as helm.values, patches and files in ConfigMaps. Other text
// is prose or a script and is not changed.
func findNested(d *document, out *sink, n *yaml.Node) bool {
	if !strings.Contains(n.Value, ":") {
		return false
	}
	var nested *span.Stream
	var err error
	switch {
	case n.Style&yaml.LiteralStyle == 0:
		err = errNoBlock
	case d.stream.Depth() >= maxNesting:
		err = errNesting
	default:
		nested, err = d.stream.Nested(n)
	}
	if err != nil {
		refuseBlock(d, out, n, err)
		return false
	}
	if !isStructured(nested.Documents) {
		return false
	}
	inner := *d
	inner.stream = nested
	inner.keys = nil
	inner.parents = nil
	for _, root := range nested.Documents {
		inner.walk(root, out)
	}
	return true
}

// manifestKeys are keys whose text is YAML or JSON by definition: values and
// patches of Argo CD, Flux, kustomize, k3s and Cluster API.
var manifestKeys = []string{"values", "valuesContent", "valuesTemplate", "patch", "templatePatch"}

// refuseBlock refuses text that must be YAML, mentions a followed repository,
// and cannot be edited.
func refuseBlock(d *document, out *sink, n *yaml.Node, problem error) {
	key := d.key()
	if !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(key)) && !slices.Contains(manifestKeys, key) {
		return
	}
	mentioned := followedAmong(d, func(yield func(string) bool) {
		for _, line := range TemplateLines(span.Unparsed([]byte(n.Value))) {
			for name := range lex.Mentions(line.Text) {
				if !yield(name) {
					return
				}
			}
		}
	})
	for _, m := range mentioned {
		out.refuse(d.scalar(n), m.component, "the text under %s mentions %s and cannot be edited: %v", lex.Shorten(key), m.name, problem)
	}
}

// isStructured reports whether every non-empty document is a mapping or a list,
// and at least one exists.
func isStructured(documents []*yaml.Node) bool {
	found := false
	for _, document := range documents {
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
