package config

import (
	"strconv"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"promoter/internal/schedule"
)

// place is where a value stands. The zero place means that the value is absent;
// bad means that it stands there and could not be read, which was reported.
type place struct {
	Position
	bad bool
}

func (p place) set() bool { return p.Position != Position{} }

func (p *place) where() *place { return p }

// ok says that there is a value to look at.
func (p place) ok() bool { return p.set() && !p.bad }

// at is a value with its place.
type at[T any] struct {
	place
	Value T
}

// list is a list of texts with the place of the list and of every entry.
type list = at[[]at[string]]

// decode reads a scalar or a list of texts.
func (a *at[T]) decode(d *decoder, n *yaml.Node) {
	a.Position = d.position(n)
	switch v := any(&a.Value).(type) {
	case *string:
		a.bad = !d.text(n, v)
	case *int:
		a.bad = !d.integer(n, v)
	case *float64:
		a.bad = !d.number(n, v)
	case *bool:
		a.bad = !d.boolean(n, v)
	case *time.Duration:
		a.bad = !d.duration(n, v)
	case *[]at[string]:
		a.bad = !d.texts(n, v)
	}
}

// values returns the texts of a list that could be read.
func values(l list) []string {
	out := make([]string, 0, len(l.Value))
	for _, entry := range l.Value {
		if entry.ok() {
			out = append(out, entry.Value)
		}
	}
	return out
}

// texts returns the values of a list, nil for an empty one, so that what Load
// returns compares well.
func texts(l list) []string {
	if len(l.Value) == 0 {
		return nil
	}
	return values(l)
}

// or returns the value, or a default where there is none.
func or[T any](a at[T], otherwise T) T {
	if a.ok() {
		return a.Value
	}
	return otherwise
}

// entry is one key of a mapping whose keys are names.
type entry[T any] struct {
	Key   at[string]
	Value T
}

// named is a mapping whose keys are names, in the order of the file.
type named[T any] struct {
	place
	Entries []entry[T]
}

func (m *named[T]) decode(d *decoder, n *yaml.Node) {
	m.Position = d.position(n)
	pairs, ok := d.mapping(n)
	m.bad = !ok
	within := d.key
	for _, p := range pairs {
		var e entry[T]
		d.key = p.key.Value
		e.Key = at[string]{place: place{Position: d.position(p.key)}, Value: p.key.Value}
		d.value(p.value, &e.Value)
		m.Entries = append(m.Entries, e)
	}
	d.key = within
}

// names returns the keys with their places.
func (m named[T]) names() []at[string] {
	out := make([]at[string], 0, len(m.Entries))
	for _, e := range m.Entries {
		out = append(out, e.Key)
	}
	return out
}

// reserved is a key that a later release will understand.
type reserved struct{ place }

func (r *reserved) decode(d *decoder, n *yaml.Node) {
	r.Position = d.position(n)
	d.failf(r.Position, "remove it for now", "%s is not supported yet", d.key)
}

func (d *decoder) text(n *yaml.Node, out *string) bool {
	if n.Kind != yaml.ScalarNode {
		return d.wrongType(n, "a text")
	}
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		*out = n.Value
		return true
	case "!!int", "!!float", "!!bool":
		d.failf(d.position(n), "put it in quotes", "%s must be a text, not %s", d.key, kindOf(n))
		return false
	default:
		return d.wrongType(n, "a text")
	}
}

func (d *decoder) integer(n *yaml.Node, out *int) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" {
		return d.wrongType(n, "a whole number")
	}
	number, err := strconv.Atoi(n.Value)
	if err != nil {
		return d.wrongType(n, "a decimal whole number")
	}
	*out = number
	return true
}

func (d *decoder) number(n *yaml.Node, out *float64) bool {
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" {
		return d.wrongType(n, "a number")
	}
	number, err := strconv.ParseFloat(n.Value, 64)
	if err != nil {
		return d.wrongType(n, "a decimal number")
	}
	*out = number
	return true
}

func (d *decoder) boolean(n *yaml.Node, out *bool) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
		return d.wrongType(n, "true or false")
	}
	*out = n.Value[0] == 't' || n.Value[0] == 'T'
	return true
}

func (d *decoder) duration(n *yaml.Node, out *time.Duration) bool {
	const hint = "write a number and a unit: 90s, 15m, 24h, 3d, 2w"
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return d.wrongType(n, "a duration")
	}
	parsed, err := schedule.ParseDuration(n.Value)
	if err != nil {
		d.failf(d.position(n), hint, "%s: %v", d.key, err)
		return false
	}
	*out = parsed
	return true
}

func (d *decoder) texts(n *yaml.Node, out *[]at[string]) bool {
	if n.Kind != yaml.SequenceNode {
		if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
			d.failf(d.position(n), "put it in brackets", "%s must be a list, not a text", d.key)
			return false
		}
		return d.wrongType(n, "a list")
	}
	for _, item := range n.Content {
		var entry at[string]
		d.value(item, &entry)
		*out = append(*out, entry)
	}
	return true
}
