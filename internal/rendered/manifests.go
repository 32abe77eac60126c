package rendered

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"go.yaml.in/yaml/v3"
)

// object is one object of rendered manifests.
type object struct {
	name string // kind, namespace, and name
	text string // YAML, without the values of secrets
	sum  string // what tells secrets apart
}

// objects parses rendered manifests.
func objects(manifests []byte) (map[string]object, error) {
	found := map[string]object{}
	decoder := yaml.NewDecoder(bytes.NewReader(manifests))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("parse the rendered manifests: %w", err)
		}
		if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
			continue // an empty document, or a comment
		}
		var head struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		_ = document.Decode(&head) // an object of another form has an empty name
		whole, err := text(&document)
		if err != nil {
			return nil, err
		}
		if head.Kind == "Secret" {
			hide(document.Content[0])
		}
		shown, err := text(&document)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSpace(cmp.Or(head.Kind, "object") + " " + strings.Trim(head.Metadata.Namespace+"/"+head.Metadata.Name, "/"))
		for n := 2; found[name].name != ""; n++ { // two with one name: of several clusters
			name = fmt.Sprintf("%s (%d)", strings.TrimSuffix(name, fmt.Sprintf(" (%d)", n-1)), n)
		}
		found[name] = object{name: name, text: shown, sum: whole}
	}
}

// text writes an object in the form of kubectl.
func text(document *yaml.Node) (string, error) {
	var b strings.Builder
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(document); err != nil {
		return "", fmt.Errorf("write the rendered manifests: %w", err)
	}
	return b.String(), nil
}

// hide replaces the values of a Secret.
func hide(object *yaml.Node) {
	for i := 0; i+1 < len(object.Content); i += 2 {
		key, value := object.Content[i].Value, object.Content[i+1]
		if (key != "data" && key != "stringData") || value.Kind != yaml.MappingNode {
			continue
		}
		for j := 1; j < len(value.Content); j += 2 {
			*value.Content[j] = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "(not shown)"}
		}
	}
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
	d.Objects, d.Diff, d.Cut = compareObjects(was, now, limit)
	return d
}

func renderedObjects(root Root, files map[string][]byte) (map[string]object, error) {
	text, err := manifests(root, files)
	if err != nil {
		return nil, err
	}
	return objects(text)
}

func compareObjects(was, now map[string]object, limit int) (n int, text string, cut bool) {
	names := slices.Sorted(maps.Keys(was))
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, known := was[name]; !known {
			names = append(names, name)
		}
	}
	var b strings.Builder
	for _, name := range names {
		if was[name].sum == now[name].sum {
			continue
		}
		n++
		hunk := string(diff.Diff(name, []byte(was[name].text), name, []byte(now[name].text)))
		if hunk == "" {
			hunk = "--- " + name + "\n+++ " + name + "\n# values of the Secret change\n"
		} else if _, rest, found := strings.Cut(hunk, "\n"); found { // without its first line, which is no part of a unified diff
			hunk = rest
		}
		if b.Len()+len(hunk) > limit {
			cut = true
			continue
		}
		b.WriteString(hunk)
	}
	return n, b.String(), cut
}
