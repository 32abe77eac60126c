package rendered

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"go.yaml.in/yaml/v3"

	"promoter/internal/fault"
)

// object is one object of rendered manifests: its text, or what is written as text after a
// comparison, because values are hidden.
type object struct {
	name    string // empty: it does not exist
	whole   string
	content *yaml.Node
	secrets secrets
}

// objects parses rendered manifests, by kind, namespace, and name. Values of secrets are hidden.
// What cannot be parsed is not shown.
func objects(manifests []byte) (map[string]object, error) {
	found := map[string]object{}
	aliased := 0
	var problem error
	err := eachDocument(manifests, func(document *yaml.Node) error {
		if document.Kind != yaml.MappingNode {
			return nil // a comment
		}
		// What is known about the document is released after it: it needs as much memory as the copy.
		h := newHider(aliased)
		content, err := h.copyDocument(document)
		if err == nil {
			err = h.hideIn(content)
		}
		if err != nil {
			problem = err
			return err
		}
		aliased = h.aliased
		name := nameOf(content)
		for n := 2; found[name].name != ""; n++ { // two with one name: of several clusters
			name = fmt.Sprintf("%s (%d)", strings.TrimSuffix(name, fmt.Sprintf(" (%d)", n-1)), n)
		}
		one := object{name: name, content: content, secrets: h.secrets}
		if len(h.hidden) == 0 && len(h.embedded) == 0 { // the text needs less memory
			one.content = nil
			one.whole, problem = textOf(content)
		}
		found[name] = one
		return problem
	})
	switch {
	case problem != nil:
		return nil, problem
	case err != nil: // it can contain values
		return nil, fault.New(fault.Invalid, "the manifests are not valid YAML%s: they are not shown", lineOf(err))
	}
	return found, nil
}

// yamlLine is the line in an error of the YAML parser.
var yamlLine = regexp.MustCompile(`line \d+`)

func lineOf(err error) string {
	if line := yamlLine.FindString(err.Error()); line != "" {
		return ", " + line
	}
	return ""
}

// nameOf returns the kind, namespace, and name of an object in one line.
func nameOf(content *yaml.Node) string {
	text := func(n *yaml.Node, field string) string {
		for _, value := range fieldsOf(n, field) {
			return strings.Join(strings.Fields(scalarOf(value)), " ")
		}
		return ""
	}
	var path string
	for _, metadata := range fieldsOf(content, "metadata") {
		path = strings.Trim(text(metadata, "namespace")+"/"+text(metadata, "name"), "/")
		break
	}
	return strings.TrimSpace(cmp.Or(text(content, "kind"), "object") + " " + path)
}

// text returns an object as it is shown.
func (o object) text() (string, error) {
	if o.content == nil {
		return o.whole, nil
	}
	if err := o.secrets.writeEmbedded(); err != nil {
		return "", err
	}
	return textOf(o.content)
}

// textOf writes YAML in the form of kubectl.
func textOf(content *yaml.Node) (string, error) {
	var b strings.Builder
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(content); err != nil {
		return "", fmt.Errorf("write the rendered manifests: %w", err)
	}
	return b.String(), nil
}

// difference renders a root from the files before and after, and compares the objects.
func difference(root Root, before, after map[string][]byte, limit int) Difference {
	was, err := renderedObjects(root, before)
	if err != nil {
		return Difference{Root: root, Problem: err.Error()}
	}
	now, err := renderedObjects(root, after)
	if err != nil {
		return Difference{Root: root, Problem: err.Error()}
	}
	d := Difference{Root: root}
	d.Objects, d.Diff, d.Cut, err = compareObjects(was, now, limit)
	if err != nil {
		return Difference{Root: root, Problem: err.Error()}
	}
	return d
}

func renderedObjects(root Root, files map[string][]byte) (map[string]object, error) {
	text, err := manifests(root, files)
	if err != nil {
		return nil, err
	}
	return objects(text)
}

// compareObjects returns how many objects differ, and a unified diff of them.
func compareObjects(was, now map[string]object, limit int) (n int, text string, cut bool, err error) {
	names := slices.Sorted(maps.Keys(was))
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, known := was[name]; !known {
			names = append(names, name)
		}
	}
	var b strings.Builder
	for _, name := range names {
		before, after := was[name], now[name]
		after.secrets.mark(before.secrets)
		old, err := before.text()
		if err != nil {
			return 0, "", false, err
		}
		current, err := after.text()
		if err != nil {
			return 0, "", false, err
		}
		if old == current {
			continue
		}
		n++
		hunk := string(diff.Diff(name, []byte(old), name, []byte(current)))
		if _, rest, found := strings.Cut(hunk, "\n"); found { // without its first line, which is no part of a unified diff
			hunk = rest
		}
		if b.Len()+len(hunk) > limit {
			cut = true
			continue
		}
		b.WriteString(hunk)
	}
	return n, b.String(), cut, nil
}
