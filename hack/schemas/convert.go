package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// node is an object of a schema.
type node = map[string]any

// description is the part of swagger.json with the schemas of objects.
type description struct {
	Definitions map[string]node `json:"definitions"`
}

const referTo = "#/definitions/"

// convert makes a schema for each version of the kinds, named KIND-GROUP-VERSION.json
// in small letters, the group without its domain: the way that kubeconform looks for it.
func convert(text []byte, kinds []string) (map[string]node, error) {
	var from description
	if err := json.Unmarshal(text, &from); err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	wanted := map[string]bool{}
	for _, kind := range kinds {
		wanted[kind] = true
	}
	schemas := map[string]node{}
	for name, definition := range from.Definitions {
		for _, id := range identities(definition) {
			if wanted[id.Kind] {
				schemas[id.file()] = from.schema(name, id)
			}
		}
	}
	return schemas, nil
}

// identity is what an object says of itself.
type identity struct{ Group, Version, Kind string }

func identities(definition node) []identity {
	list, _ := definition["x-kubernetes-group-version-kind"].([]any)
	var ids []identity
	for _, entry := range list {
		if id, ok := entry.(node); ok {
			ids = append(ids, identity{Group: str(id["group"]), Version: str(id["version"]), Kind: str(id["kind"])})
		}
	}
	return ids
}

func str(value any) string {
	text, _ := value.(string)
	return text
}

func (id identity) file() string {
	parts := []string{id.Kind}
	if group, _, _ := strings.Cut(id.Group, "."); group != "" {
		parts = append(parts, group)
	}
	return strings.ToLower(strings.Join(append(parts, id.Version), "-")) + ".json"
}

func (id identity) apiVersion() string {
	return strings.TrimPrefix(id.Group+"/"+id.Version, "/")
}

// schema is a definition with all that it refers to.
func (d description) schema(name string, id identity) node {
	needed := node{}
	d.collect(name, needed)
	return node{
		"title": id.Kind, "definitions": needed,
		"allOf": []any{
			node{"$ref": referTo + name},
			node{
				"required":   []any{"apiVersion", "kind"},
				"properties": node{"apiVersion": node{"const": id.apiVersion()}, "kind": node{"const": id.Kind}},
			},
		},
	}
}

// collect puts a definition and all that it refers to into needed.
func (d description) collect(name string, needed node) {
	if _, done := needed[name]; done {
		return
	}
	definition := strict(name, d.Definitions[name])
	needed[name] = definition
	for _, other := range references(definition) {
		d.collect(other, needed)
	}
}

// strict closes an object to fields that it does not name, and says of the two scalars
// that have two forms what the description does not.
func strict(name string, definition node) node {
	switch {
	case strings.HasSuffix(name, ".intstr.IntOrString"):
		return node{"type": []any{"string", "integer"}}
	case strings.HasSuffix(name, ".resource.Quantity"):
		return node{"type": []any{"string", "number"}}
	}
	if _, object := definition["properties"]; object && definition["additionalProperties"] == nil {
		definition["additionalProperties"] = false
	}
	return definition
}

// references lists the definitions that a schema names, at any depth.
func references(value any) []string {
	var names []string
	switch value := value.(type) {
	case node:
		for key, inner := range value {
			if text, ok := inner.(string); ok && key == "$ref" {
				names = append(names, strings.TrimPrefix(text, referTo))
			}
			names = append(names, references(inner)...)
		}
	case []any:
		for _, inner := range value {
			names = append(names, references(inner)...)
		}
	}
	return names
}
