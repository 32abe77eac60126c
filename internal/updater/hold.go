package updater

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/config/field"
	"promoter/internal/edit"
	"promoter/internal/updater/node"
	"promoter/internal/updater/shapes"
	"promoter/internal/updater/span"
)

// Hold is a configured key with which users keep promoter from writing a file while it has the value.
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

// findHolds returns what the documents of a file have for the keys.
func findHolds(file string, stream *span.Stream, holds []Hold) (found []edit.Hold) {
	for _, key := range keysOf(holds) {
		path, err := field.ParseYAMLPath(key)
		if err != nil {
			continue
		}
		for _, document := range stream.Documents {
			for _, root := range document.Content {
				if n := node.Follow(root, path); n != nil && n.Kind == yaml.ScalarNode {
					position := span.Scalar{Stream: stream, Node: n}.Position(file)
					found = append(found, edit.Hold{Position: position, Key: key, Value: n.Value})
				}
			}
		}
	}
	return found
}

func keysOf(holds []Hold) (keys []string) {
	for _, h := range holds {
		if !slices.Contains(keys, h.Key) {
			keys = append(keys, h.Key)
		}
	}
	return keys
}

// findHoldLines returns what the lines of a template that look like one of the keys have for it. The
// value of one that is rendered is unknown, as if the line did not exist.
func findHoldLines(file string, stream *span.Stream, holds []Hold) (found []edit.Hold) {
	for _, key := range keysOf(holds) {
		line := regexp.MustCompile(`^[ \t]*(?:-[ \t]+)*["']?` + regexp.QuoteMeta(LastKey(key)) + `["']?:[ \t]+(.*)$`)
		for number, l := range shapes.TemplateLines(stream) {
			match := line.FindStringSubmatch(strings.TrimRight(l.Text, "\r"))
			if match == nil {
				continue
			}
			if value, known := valueOfLine(match[1], key, holds); known {
				position := edit.Position{File: file, Line: number + 1, Column: 1}
				found = append(found, edit.Hold{Position: position, Key: key, Value: value})
			}
		}
	}
	return found
}

// valueOfLine returns the configured value that a line of a template has after a key, or what it has. It is unknown if it
// is rendered.
func valueOfLine(text, key string, holds []Hold) (value string, known bool) {
	for _, h := range holds {
		value := regexp.MustCompile(`^["']?` + regexp.QuoteMeta(h.Value) + `["']?[ \t]*(?:#.*)?$`)
		if h.Key == key && value.MatchString(text) {
			return h.Value, true
		}
	}
	return text, !strings.Contains(commented.ReplaceAllString(text, "$1"), "{{")
}

// commented is a value, quoted or not, with a comment after it.
var commented = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^"'].*?)[ \t]+#.*$`)
