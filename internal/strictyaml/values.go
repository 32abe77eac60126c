package strictyaml

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"promoter/internal/schedule"
)

// Origin is where a value is written. The zero Origin belongs to an absent value.
// Structs that are decoded from a mapping embed it.
type Origin struct {
	Position
	Invalid bool // the value is present but could not be decoded, which was reported
	unknown bool // a mapping has an unknown key, which was reported
}

// IsSet reports whether the value is present.
func (o Origin) IsSet() bool { return o.Position != Position{} }

// Valid reports whether the value is present and could be decoded.
func (o Origin) Valid() bool { return o.IsSet() && !o.Invalid }

// HasUnknownKey reports whether a mapping has an unknown key, which was reported: what
// seems to be missing in it may be misspelled.
func (o Origin) HasUnknownKey() bool { return o.unknown }

func (o *Origin) origin() *Origin { return o }

// FirstSet returns the position of the first value that is present, else that of
// the last.
func FirstSet(values ...Origin) Position {
	for _, value := range values {
		if value.IsSet() {
			return value.Position
		}
	}
	return values[len(values)-1].Position
}

// Last returns the position furthest down in the file.
func Last(values ...Origin) Position {
	return slices.MaxFunc(values, func(a, b Origin) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	}).Position
}

// Pick returns the override where it is present, else the base.
func Pick[T interface{ IsSet() bool }](base, override T) T {
	if override.IsSet() {
		return override
	}
	return base
}

// Located is a scalar with its position: a string, an int, a float64, a bool, or a
// time.Duration.
type Located[T any] struct {
	Origin
	Value T
}

// At returns a value with a position.
func At[T any](at Position, value T) Located[T] {
	return Located[T]{Origin: Origin{Position: at}, Value: value}
}

// Or returns the value, or a default where there is no valid one.
func (l Located[T]) Or(fallback T) T {
	if l.Valid() {
		return l.Value
	}
	return fallback
}

// Decode implements Decodable.
func (l *Located[T]) Decode(d *Decoder, n *Node) {
	l.Position = d.Position(n)
	switch v := any(&l.Value).(type) {
	case *string:
		l.Invalid = !d.text(n, v)
	case *int:
		l.Invalid = !decodeScalar(d, n, v, strconv.Atoi, "a whole number", "!!int")
	case *float64:
		parse := func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
		l.Invalid = !decodeScalar(d, n, v, parse, "a number", "!!int", "!!float")
	case *bool:
		parse := func(s string) (bool, error) { return s[0] == 't' || s[0] == 'T', nil }
		l.Invalid = !decodeScalar(d, n, v, parse, "true or false", "!!bool")
	case *time.Duration:
		l.Invalid = !d.duration(n, v)
	}
}

// decodeScalar reads a scalar that has one of the YAML types.
func decodeScalar[T any](d *Decoder, n *Node, out *T, parse func(string) (T, error), wanted string, tags ...string) bool {
	if n.Kind != yaml.ScalarNode || !slices.Contains(tags, n.ShortTag()) {
		return d.WrongType(n, wanted)
	}
	value, err := parse(n.Value)
	if err != nil {
		return d.WrongType(n, wanted+" in decimal notation")
	}
	*out = value
	return true
}

func (d *Decoder) text(n *Node, out *string) bool {
	if n.Kind != yaml.ScalarNode {
		return d.WrongType(n, "a string")
	}
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		*out = n.Value
		return true
	case "!!int", "!!float", "!!bool":
		d.Report.Errorf(d.Position(n), "put it in quotes", "%s must be a string, not %s", d.Key, kindOf(n))
		return false
	default:
		return d.WrongType(n, "a string")
	}
}

func (d *Decoder) duration(n *Node, out *time.Duration) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return d.WrongType(n, "a duration")
	}
	parsed, err := schedule.ParseDuration(n.Value)
	if err != nil {
		d.Report.Errorf(d.Position(n), "write a number and a unit: 90s, 15m, 24h, 3d, 2w", "%s: %v", d.Key, err)
		return false
	}
	*out = parsed
	return true
}

// List is a list of strings with the position of the list and of every item.
type List struct {
	Origin
	Items []Located[string]
}

// Decode implements Decodable.
func (l *List) Decode(d *Decoder, n *Node) {
	l.Position = d.Position(n)
	if n.Kind != yaml.SequenceNode {
		l.Invalid = true
		if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
			d.Report.Errorf(d.Position(n), "put it in brackets", "%s must be a list, not a string", d.Key)
			return
		}
		d.WrongType(n, "a list")
		return
	}
	for _, item := range n.Content {
		var decoded Located[string]
		d.Value(item, &decoded)
		l.Items = append(l.Items, decoded)
	}
}

// Strings returns the items that could be decoded, nil for none.
func (l List) Strings() []string {
	var out []string
	for _, item := range l.Items {
		if item.Valid() {
			out = append(out, item.Value)
		}
	}
	return out
}

// IsEmpty reports whether the list is present without any item.
func (l List) IsEmpty() bool { return l.Valid() && len(l.Items) == 0 }

// Map is a mapping whose keys are names, in the order of the file.
type Map[T any] struct {
	Origin
	Entries []Entry[T]
}

// Entry is one key of a Map with its value.
type Entry[T any] struct {
	Key   Located[string]
	Value T
}

// Decode implements Decodable.
func (m *Map[T]) Decode(d *Decoder, n *Node) {
	m.Position = d.Position(n)
	pairs, ok := d.mapping(n)
	m.Invalid = !ok
	within := d.Key
	for _, p := range pairs {
		e := Entry[T]{Key: At(d.Position(p.key), p.key.Value)}
		d.Key = p.key.Value
		d.Value(p.value, &e.Value)
		m.Entries = append(m.Entries, e)
	}
	d.Key = within
}

// Keys returns the keys with their positions.
func (m Map[T]) Keys() []Located[string] {
	out := make([]Located[string], 0, len(m.Entries))
	for _, e := range m.Entries {
		out = append(out, e.Key)
	}
	return out
}

// Sections is a list of mappings with the position of the list, so that an empty list differs
// from an absent one.
type Sections[T any] struct {
	Origin
	Items []T
}

// Decode implements Decodable.
func (s *Sections[T]) Decode(d *Decoder, n *Node) {
	s.Position = d.Position(n)
	s.Invalid = n.Kind != yaml.SequenceNode
	d.Value(n, &s.Items)
}

// JSONSchemaAlias makes generated JSON Schemas describe Sections as an array.
func (Sections[T]) JSONSchemaAlias() any { return []T{} }

// Reserved is a key that a later release will support.
type Reserved struct{ Origin }

// Decode implements Decodable.
func (r *Reserved) Decode(d *Decoder, n *Node) {
	r.Position = d.Position(n)
	d.Report.Errorf(r.Position, "remove it for now", "%s is not supported yet", d.Key)
}

// Extensions marks a struct that allows keys with the prefix x-, which hold anchors.
// Their values are not decoded.
type Extensions struct{}

// ExtensionKeys is the yaml tag of the Extensions field.
const ExtensionKeys = "x-*"

// JSONSchemaAlias makes generated JSON Schemas describe a Map as an object.
func (Map[T]) JSONSchemaAlias() any { return map[string]T{} }

// Merge puts the keys that override sets over base and returns the result; neither is
// changed. Both are structs that embed an Origin, or nil. Nested pointers to such
// structs are merged key by key, everything else is replaced.
func Merge[T any](base, override *T) *T {
	if base == nil || override == nil {
		if override != nil {
			return override
		}
		return base
	}
	merged := *override
	mergeInto(reflect.ValueOf(&merged).Elem(), reflect.ValueOf(base).Elem())
	return &merged
}

func mergeInto(merged, base reflect.Value) {
	for i := range merged.NumField() {
		to, from := merged.Field(i), base.Field(i)
		switch {
		case to.Type() == reflect.TypeFor[Origin]() || !to.CanSet():
		case to.Kind() != reflect.Pointer:
			if value, ok := to.Addr().Interface().(interface{ IsSet() bool }); ok && !value.IsSet() {
				to.Set(from)
			}
		case to.IsNil():
			to.Set(from)
		case !from.IsNil():
			both := reflect.New(to.Type().Elem())
			both.Elem().Set(to.Elem())
			mergeInto(both.Elem(), from.Elem())
			to.Set(both)
		}
	}
}
