package imports

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
	"promoter/internal/suggest/bots"
)

// groups are the API groups of the objects that are read. Every file with one contains its name.
var groups = []string{kargoGroup, gitOpsPromoterGroup, appStudioGroup, fluxGroup, imageUpdaterGroup}

// hasObjects reports whether a file may have objects of tools. Most files have none.
func hasObjects(file string, content []byte) bool {
	return bots.IsManifest(file) && slices.ContainsFunc(groups, func(group string) bool { return bytes.Contains(content, []byte(group)) })
}

// object is one object of a tool.
type object struct {
	file            string
	group           string // of its API
	kind            string
	name, namespace string
	labels          map[string]string
	annotations     map[string]string
	node            *yaml.Node
	repeated        []*yaml.Node // keys that it has more than once, except the last ones
}

type objects []object

// of returns the objects of a kind.
func (all objects) of(group, kind string) (found objects) {
	for _, o := range all {
		if o.group == group && o.kind == kind {
			found = append(found, o)
		}
	}
	return found
}

// objectsOf parses the objects in files, in the order of the files. A file that cannot be parsed,
// such as a template, is a note.
func (d *draft) objectsOf(files map[string][]byte) (all objects) {
	for _, file := range sortedKeys(files) {
		if bots.IsSettings(file) || !hasObjects(file, files[file]) {
			continue
		}
		decoder := yaml.NewDecoder(bytes.NewReader(files[file]))
		for {
			var document yaml.Node
			err := decoder.Decode(&document)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				d.note(edit.Position{File: file, Line: 1, Column: 1},
					"the file cannot be parsed, so nothing of it is imported; render a template first")
				break
			}
			if o, ok := objectOf(file, &document); ok {
				all = append(all, o)
			}
		}
	}
	return all
}

func objectOf(file string, document *yaml.Node) (object, bool) {
	var header struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   struct {
			Name        string            `yaml:"name"`
			Namespace   string            `yaml:"namespace"`
			Labels      map[string]string `yaml:"labels"`
			Annotations map[string]string `yaml:"annotations"`
		} `yaml:"metadata"`
	}
	var repeated []*yaml.Node
	lastKeys(document, &repeated)
	if len(document.Content) != 1 || document.Decode(&header) != nil || header.Kind == "" {
		return object{}, false
	}
	group, _, _ := strings.Cut(header.APIVersion, "/")
	m := header.Metadata
	return object{
		file: file, group: group, kind: header.Kind, name: m.Name, namespace: m.Namespace,
		labels: m.Labels, annotations: m.Annotations, node: document.Content[0], repeated: repeated,
	}, true
}

// lastKeys removes keys that a mapping repeats, and collects them. Like the API server of
// Kubernetes, it keeps the last one.
func lastKeys(node *yaml.Node, repeated *[]*yaml.Node) {
	for _, child := range node.Content {
		lastKeys(child, repeated)
	}
	if node.Kind != yaml.MappingNode {
		return
	}
	last := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		last[keyOf(node.Content[i], i)] = i
	}
	var kept []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		if last[keyOf(node.Content[i], i)] == i {
			kept = append(kept, node.Content[i], node.Content[i+1])
		} else {
			*repeated = append(*repeated, node.Content[i])
		}
	}
	node.Content = kept
}

// keyOf identifies a key of a mapping. A merge key can be repeated.
func keyOf(key *yaml.Node, i int) string {
	if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
		return strconv.Itoa(i) + " is no name"
	}
	return key.Value
}

func (o object) title() string { return o.kind + " " + o.name }

// at returns the position of a node of the object; nil: of the object.
func (o object) at(node *yaml.Node) edit.Position {
	if node == nil {
		node = o.node
	}
	return edit.Position{File: o.file, Line: node.Line, Column: node.Column}
}

// spec returns the spec of the object; nil: it has none.
func (o object) spec() *yaml.Node {
	for i := 0; i+1 < len(o.node.Content) && o.node.Kind == yaml.MappingNode; i += 2 {
		if o.node.Content[i].Value == "spec" {
			return o.node.Content[i+1]
		}
	}
	return nil
}

// decode reads the spec of an object. What the type does not have becomes a note; what cannot be
// read too.
func decode[T any](d *draft, o object) (spec T, ok bool) {
	for _, key := range o.repeated {
		d.note(o.at(key), o.title()+" has the key "+key.Value+" more than once; the last one counts")
	}
	node := o.spec()
	if node == nil {
		return spec, true
	}
	if err := node.Decode(&spec); err != nil {
		d.note(o.at(node), "the spec of "+o.title()+" cannot be read, so it is not imported")
		return spec, false
	}
	d.unread(o, node, reflect.TypeFor[T](), "spec")
	return spec, true
}

// unread adds a note for each key of a node that a type does not have. A field of the type
// yaml.Node has all keys, because its reader adds its own notes.
func (d *draft) unread(o object, node *yaml.Node, t reflect.Type, at string) {
	switch {
	case t == reflect.TypeFor[yaml.Node]():
	case t.Kind() == reflect.Pointer:
		d.unread(o, node, t.Elem(), at)
	case t.Kind() == reflect.Slice && node.Kind == yaml.SequenceNode:
		for _, item := range node.Content {
			d.unread(o, item, t.Elem(), at+"[]")
		}
	case t.Kind() == reflect.Struct && node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			field, known := fieldOf(t, key.Value)
			if !known {
				d.note(o.at(key), o.title()+": "+at+"."+key.Value+" has no match")
				continue
			}
			d.unread(o, node.Content[i+1], field, at+"."+key.Value)
		}
	}
}

// fieldOf returns the type of the field of a key; that of a key which is known without a field has
// all keys.
func fieldOf(t reflect.Type, key string) (reflect.Type, bool) {
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Tag.Get("yaml") == key {
			return field.Type, true
		}
		if slices.Contains(strings.Fields(field.Tag.Get("without")), key) {
			return reflect.TypeFor[yaml.Node](), true
		}
	}
	return nil, false
}

// without is a field whose tag names keys that are no notes although nothing reads them: they are
// about the tool itself, such as how often it looks, or where its credentials are.
type without struct{}
