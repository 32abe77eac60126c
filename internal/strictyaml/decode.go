package strictyaml

import (
	"reflect"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// Limits of decoding.
const (
	maxValues = 200_000 // values after anchors are expanded, so that an alias bomb is cheap
	maxMerges = 20      // depth of nested merge keys
)

// Node is a node of the YAML tree.
type Node = yaml.Node

// The kinds of nodes that a Decodable distinguishes.
const (
	MappingNode  = yaml.MappingNode
	SequenceNode = yaml.SequenceNode
	ScalarNode   = yaml.ScalarNode
)

// Decodable is a value that decodes itself.
type Decodable interface {
	Decode(d *Decoder, n *Node)
}

// section is a struct that embeds an Origin.
type section interface{ origin() *Origin }

// Decode reads a file with one document into a struct that embeds an Origin. Fields
// are found by their yaml tag; a tag "values" lists the strings that a field may
// have; misplaced maps a key that belongs elsewhere to a hint. In a struct whose Origin has
// the tag holds:"secrets", an unknown key may be a misplaced secret, so it is not quoted. Decode
// returns false when the file cannot be decoded as a whole, so that parts of it are missing.
func Decode(file string, data []byte, into section, misplaced map[string]string, report *Report) bool {
	root := parse(file, data, report)
	if root == nil {
		return false
	}
	d := &Decoder{Report: report, Key: "the file", file: file, left: maxValues, misplaced: misplaced}
	d.Value(root, into)
	return d.left >= 0 && !into.origin().Invalid
}

// Decoder fills structs from nodes.
type Decoder struct {
	Report    *Report
	Key       string // of the value that is decoded, for messages
	file      string
	left      int // values that may still be decoded
	misplaced map[string]string
}

// Position returns the position of a node.
func (d *Decoder) Position(n *Node) Position {
	return Position{File: d.file, Line: n.Line, Column: n.Column}
}

// Value decodes a node into what into points to: a Decodable, a struct that embeds an
// Origin, a pointer to such a struct, or a list of them.
func (d *Decoder) Value(n *Node, into any) {
	if !d.spend(n) {
		return
	}
	n = resolve(n)
	if own, ok := into.(Decodable); ok {
		own.Decode(d, n)
		return
	}
	v := reflect.ValueOf(into).Elem()
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		d.Struct(n, v.Addr().Interface())
		return
	}
	if n.Kind != yaml.SequenceNode {
		d.WrongType(n, "a list")
		return
	}
	for _, item := range n.Content {
		element := reflect.New(v.Type().Elem())
		d.Value(item, element.Interface())
		v.Set(reflect.Append(v, element.Elem()))
	}
}

// spend counts one more value. It returns false once the file has too many.
func (d *Decoder) spend(n *Node) bool {
	if d.left == 0 {
		d.Report.Errorf(d.Position(n), "repeat less through anchors", "the file expands to more than %d values", maxValues)
	}
	d.left--
	return d.left >= 0
}

// Struct decodes a mapping into a pointer to a struct that embeds an Origin.
func (d *Decoder) Struct(n *Node, into any) {
	v := reflect.ValueOf(into).Elem()
	origin := into.(section).origin()
	origin.Position = d.Position(n)
	pairs, ok := d.mapping(n)
	origin.Invalid = !ok
	index, keys, extensible := fields(v.Type())
	embedded, _ := v.Type().FieldByName("Origin")
	sensitive := embedded.Tag.Get("holds") == "secrets"
	within := d.Key
	for _, p := range pairs {
		i, known := index[p.key.Value]
		if !known {
			if !extensible || !strings.HasPrefix(p.key.Value, "x-") {
				d.unknownKey(p.key, keys, sensitive)
				origin.unknown = true
			}
			continue
		}
		d.Key = p.key.Value
		field := v.FieldByIndex(i).Addr().Interface()
		d.Value(p.value, field)
		if values, limited := v.Type().FieldByIndex(i).Tag.Lookup("values"); limited {
			switch value := field.(type) {
			case *Located[string]:
				d.Report.OneOf(value, d.Key, strings.Fields(values))
			case *List:
				for i := range value.Items {
					d.Report.OneOf(&value.Items[i], d.Key, strings.Fields(values))
				}
			}
		}
		d.Key = within
	}
}

// fields returns the index of every key, those of embedded structs included, the keys
// that a hint may suggest, and whether keys with the prefix x- are allowed.
func fields(t reflect.Type) (index map[string][]int, keys []string, extensible bool) {
	index = map[string][]int{}
	for _, field := range reflect.VisibleFields(t) {
		name, tagged := field.Tag.Lookup("yaml")
		switch {
		case !tagged:
		case name == ExtensionKeys:
			extensible = true
		default:
			index[name] = field.Index
			if field.Type != reflect.TypeFor[Reserved]() {
				keys = append(keys, name)
			}
		}
	}
	return index, keys, extensible
}

func (d *Decoder) unknownKey(key *Node, keys []string, sensitive bool) {
	if d.Report.full() {
		return
	}
	near := Nearest(key.Value, keys)
	hint := d.misplaced[key.Value]
	if hint == "" || near != "" {
		hint = DidYouMean(key.Value, keys)
	}
	shown, rest, _ := strings.Cut(key.Value, ":")
	if rest != "" {
		hint = "write a space after the colon"
	}
	if sensitive && near == "" && !slices.Contains(keys, shown) {
		d.Report.Errorf(d.Position(key), hint, "unknown key in %s", d.Key)
		return
	}
	d.Report.Errorf(d.Position(key), hint, "unknown key %q in %s", shown, d.Key)
}

// pair is one key of a mapping with its value.
type pair struct{ key, value *Node }

// mapping returns the pairs of a mapping in the order of the file, followed by those
// that merge keys (<<) add.
func (d *Decoder) mapping(n *Node) ([]pair, bool) {
	if n.Kind != yaml.MappingNode {
		return nil, d.WrongType(n, "a mapping")
	}
	return d.pairs(n, map[string]bool{}, 0), true
}

// pairs returns the pairs of a mapping whose keys are not in seen yet, which are the
// keys of mappings that take precedence.
func (d *Decoder) pairs(n *Node, seen map[string]bool, depth int) []pair {
	if depth > maxMerges {
		d.Report.Errorf(d.Position(n), "merge fewer anchors", "merge keys are nested more than %d deep or refer to themselves", maxMerges)
		return nil
	}
	var out []pair
	var merged []*Node
	own := map[string]int{} // line of each key of this mapping
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !d.spend(n.Content[i]) {
			return out
		}
		key, value := resolve(n.Content[i]), n.Content[i+1]
		if n.Content[i].Kind == yaml.ScalarNode && key.Value == "<<" && key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
			d.Report.Errorf(d.Position(key), "write a plain name and a colon", "a key of %s is not a string", d.Key)
			continue
		}
		if line, duplicate := own[key.Value]; duplicate {
			d.Report.Errorf(d.Position(key), "keep one of them", "duplicate key %q in %s, first on line %d", key.Value, d.Key, line)
			continue
		}
		own[key.Value] = key.Line
		if !seen[key.Value] {
			seen[key.Value] = true
			out = append(out, pair{key, value})
		}
	}
	for _, value := range merged {
		items := []*Node{value}
		if list := resolve(value); list.Kind == yaml.SequenceNode {
			items = list.Content
		}
		for _, item := range items {
			if !d.spend(item) {
				return out
			}
			if item = resolve(item); item.Kind != yaml.MappingNode {
				d.WrongType(item, "a mapping (after <<)")
				continue
			}
			out = append(out, d.pairs(item, seen, depth+1)...)
		}
	}
	return out
}

// resolve returns the node that an alias refers to.
func resolve(n *Node) *Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// WrongType reports a value of another type than wanted. It returns false.
func (d *Decoder) WrongType(n *Node, wanted string) bool {
	hint := "see docs/configuration.md"
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		hint = "give it a value or remove the key"
	}
	d.Report.Errorf(d.Position(n), hint, "%s must be %s, not %s", d.Key, wanted, kindOf(n))
	return false
}

// kindOf describes a node without its value, which may be a secret.
func kindOf(n *Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!timestamp":
		return "a date"
	case "!!str":
		return "a string"
	default:
		return "a value of another type"
	}
}
