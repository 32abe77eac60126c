package config

import (
	"reflect"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// maxValues bounds how many values one file may expand to when its anchors are
// followed, so that an alias bomb costs nothing.
const maxValues = 200_000

// maxMerges bounds how deep merge keys may lead into one another.
const maxMerges = 20

// decodable is a value that reads itself from a node.
type decodable interface {
	decode(d *decoder, n *yaml.Node)
}

// placed is a struct that embeds a place.
type placed interface{ where() *place }

// decoder fills structs from nodes. Fields are found by their yaml tag; a tag
// "values" lists the texts that a field may have.
type decoder struct {
	*collector
	file string
	key  string // the key whose value is read: what messages call it
	left int    // how many values may still be read
}

func newDecoder(file string, problems *collector) *decoder {
	return &decoder{collector: problems, file: file, key: "the file", left: maxValues}
}

func (d *decoder) position(n *yaml.Node) Position {
	return Position{File: d.file, Line: n.Line, Column: n.Column}
}

// whole reads the root of a file. It is false when there is no mapping to look at,
// or too much of one, so that parts of it are missing.
func (d *decoder) whole(root *yaml.Node, into placed) bool {
	d.value(root, into)
	return d.left >= 0 && !into.where().bad
}

// value reads a node into what into points to: something
// decodable, a struct, a pointer to a struct, or a list of those.
func (d *decoder) value(n *yaml.Node, into any) {
	if !d.spend(n) {
		return
	}
	n = target(n)
	if own, ok := into.(decodable); ok {
		own.decode(d, n)
		return
	}
	v := reflect.ValueOf(into).Elem()
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice {
		d.slice(n, v)
		return
	}
	d.structure(n, v)
}

// spend counts one more value; false means that the file has too many.
func (d *decoder) spend(n *yaml.Node) bool {
	if d.left == 0 {
		d.failf(d.position(n), "repeat less through anchors", "the file expands to more than %d values", maxValues)
	}
	d.left--
	return d.left >= 0
}

// slice reads a list of structs.
func (d *decoder) slice(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.wrongType(n, "a list")
		return
	}
	for _, item := range n.Content {
		element := reflect.New(v.Type().Elem())
		d.value(item, element.Interface())
		v.Set(reflect.Append(v, element.Elem()))
	}
}

// structure reads a mapping into a struct that embeds a place.
func (d *decoder) structure(n *yaml.Node, v reflect.Value) {
	where := v.Addr().Interface().(placed).where()
	where.Position = d.position(n)
	pairs, ok := d.mapping(n)
	where.bad = !ok
	fields := fieldsOf(v.Type())
	_, fields.secret = v.Addr().Interface().(secretive)
	within := d.key
	for _, p := range pairs {
		index, known := fields.index[p.key.Value]
		if !known {
			d.unknownKey(p.key, within, fields)
			continue
		}
		d.key = p.key.Value
		d.value(p.value, v.Field(index).Addr().Interface())
		d.oneOf(v.Type().Field(index), v.Field(index))
		d.key = within
	}
}

// oneOf checks a text, or a list of them, against the values that its field
// lists.
func (d *decoder) oneOf(field reflect.StructField, v reflect.Value) {
	allowed, limited := field.Tag.Lookup("values")
	if !limited {
		return
	}
	choices := strings.Fields(allowed)
	switch written := v.Addr().Interface().(type) {
	case *at[string]:
		d.choice(written, choices)
	case *list:
		for i := range written.Value {
			d.choice(&written.Value[i], choices)
		}
	}
}

func (d *decoder) choice(written *at[string], choices []string) {
	if written.ok() && !slices.Contains(choices, written.Value) {
		written.bad = true
		d.failf(written.Position, didYouMean(written.Value, choices), "%q is no value of %s", written.Value, d.key)
	}
}

// fieldSet is the keys of a struct.
type fieldSet struct {
	index    map[string]int
	keys     []string
	extended bool // keys that begin with x- are allowed
	secret   bool // its values may be secrets
}

func fieldsOf(t reflect.Type) fieldSet {
	set := fieldSet{index: map[string]int{}}
	for i := range t.NumField() {
		name, tagged := t.Field(i).Tag.Lookup("yaml")
		switch {
		case !tagged:
		case name == extensionKeys:
			set.extended = true
		default:
			set.index[name] = i
			if t.Field(i).Type != reflect.TypeFor[reserved]() {
				set.keys = append(set.keys, name)
			}
		}
	}
	return set
}

// extensionKeys is the tag of the field that allows keys for YAML anchors.
const extensionKeys = "x-*"

// extensions marks a struct in which keys that begin with x- are allowed; what
// they hold is not read.
type extensions struct{}

// secretive is a struct beside whose keys secrets stand. A key that is not known
// may be one of these, misplaced, so it is not repeated.
type secretive interface{ secretive() }

func (d *decoder) unknownKey(key *yaml.Node, within string, fields fieldSet) {
	if fields.extended && strings.HasPrefix(key.Value, "x-") || d.full() {
		return
	}
	near := nearest(key.Value, fields.keys)
	hint := belongs[key.Value]
	if hint == "" || near != "" {
		hint = didYouMean(key.Value, fields.keys)
	}
	shown, rest, glued := strings.Cut(key.Value, ":")
	if glued && rest != "" {
		hint = "write a space behind the colon"
	}
	if fields.secret && near == "" && !slices.Contains(fields.keys, shown) {
		d.failf(d.position(key), hint, "unknown key in %s", within)
		return
	}
	d.failf(d.position(key), hint, "unknown key %q in %s", shown, within)
}

// belongs says where a key stands that people look for elsewhere.
var belongs = map[string]string{
	"soak":        "soak stands under after: {PARENT: {soak: 24h}}",
	"healthy":     "healthy stands under after: {PARENT: {healthy: true}}",
	"tagged":      "tagged stands under after: {PARENT: {tagged: NAME}}",
	"approvals":   "approvals stands under gates",
	"reviewers":   "reviewers stands under pullRequest",
	"assignees":   "assignees stands under pullRequest",
	"draft":       "draft stands under pullRequest",
	"group":       "group stands under pullRequest",
	"limit":       "limit stands under pullRequest",
	"semver":      "semver stands under select",
	"newest":      "newest stands under select",
	"minAge":      "minAge stands under select",
	"platforms":   "platforms stands under select",
	"registries":  "registries belong into the server's own file",
	"credentials": "credentials belong into the server's own file",
	"branch":      "branch is set once per environment, in environments",
	"paths":       "paths are set once per environment, in environments",
	"exclude":     "exclude is set per environment, and under select for tags",
}
