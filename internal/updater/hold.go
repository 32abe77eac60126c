package updater

import (
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/config/field"
	"promoter/internal/edit"
	"promoter/internal/updater/node"
	"promoter/internal/updater/shapes"
	"promoter/internal/updater/span"
)

// Hold is a configured value with which users keep promoter from writing a file.
type Hold struct {
	Key   string // YAML path
	Value string
}

// LastKey returns the last key of a YAML path: a text that every file with the path contains.
func LastKey(path string) string {
	steps, err := field.ParseYAMLPath(path)
	if err != nil {
		return path
	}
	if _, key, found := steps.Cut(); found {
		return key
	}
	return ""
}

// holds returns the configured holds of a file.
func (u *Updater) holds(file string) []Hold {
	if u.options.Holds == nil {
		return nil
	}
	return u.options.Holds(file)
}

// findHolds returns what any document of a file has of the holds.
func findHolds(file string, stream *span.Stream, holds []Hold) (found []edit.Hold) {
	for _, h := range holds {
		path, err := field.ParseYAMLPath(h.Key)
		if err != nil {
			continue
		}
		for _, document := range stream.Documents {
			for _, root := range document.Content {
				if n := node.Follow(root, path); n != nil && n.Kind == yaml.ScalarNode && n.Value == h.Value {
					position := span.Scalar{Stream: stream, Node: n}.Position(file)
					found = append(found, edit.Hold{Position: position, Key: h.Key, Value: h.Value})
				}
			}
		}
	}
	return found
}

// findHoldLines returns the lines of a template that look like one of the holds.
func findHoldLines(file string, stream *span.Stream, holds []Hold) (found []edit.Hold) {
	for _, h := range holds {
		line := regexp.MustCompile(`^[ \t]*(?:-[ \t]+)*["']?` + regexp.QuoteMeta(LastKey(h.Key)) + `["']?:[ \t]+["']?` +
			regexp.QuoteMeta(h.Value) + `["']?[ \t]*(?:#.*)?$`)
		for number, l := range shapes.TemplateLines(stream) {
			if line.MatchString(strings.TrimRight(l.Text, "\r")) {
				position := edit.Position{File: file, Line: number + 1, Column: 1}
				found = append(found, edit.Hold{Position: position, Key: h.Key, Value: h.Value})
			}
		}
	}
	return found
}
