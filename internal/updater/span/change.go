package span

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Change is one requested change of a stream: it sets a scalar, or adds, removes,
// or renames a key with a scalar value.
type Change struct {
	Scalar  Scalar // the value to set or remove, or after which a key is added
	Value   string // the new value; empty when a key is removed
	action  action
	key     string
	mapping *yaml.Node // that contains the key
	part    Span       // with set: the part of the old value that changes, if it is not all
	text    string     // what replaces the part
}

type action int

const (
	set action = iota
	add
	remove
	rename
)

// Set sets a scalar to a value. Its style is kept as far as possible.
func Set(s Scalar, value string) Change { return Change{Scalar: s, Value: value} }

// SetPart sets the part of a scalar between two texts that surround it.
func SetPart(s Scalar, before, text, after string) Change {
	return Change{
		Scalar: s, Value: before + text + after,
		part: Span{len(before), len(s.Value()) - len(after)}, text: text,
	}
}

// Merge returns the change of a scalar that makes two changes of different parts of it. It returns
// false if they are not of different parts.
func Merge(a, b Change) (Change, bool) {
	if a.part.Start > b.part.Start {
		a, b = b, a
	}
	if a.action != set || b.action != set || a.Scalar != b.Scalar || a.part.End == 0 || a.part.End > b.part.Start {
		return Change{}, false
	}
	old := a.Scalar.Value()
	text := a.text + old[a.part.End:b.part.Start] + b.text
	return SetPart(a.Scalar, old[:a.part.Start], text, old[b.part.End:]), true
}

// AddKey adds a key to a mapping, after one of its scalars.
func AddKey(mapping *yaml.Node, after Scalar, key, value string) Change {
	return Change{Scalar: after, Value: value, action: add, key: key, mapping: mapping}
}

// RemoveKey removes the key of a scalar from a mapping, with its line.
func RemoveKey(mapping *yaml.Node, value Scalar) Change {
	return Change{Scalar: value, action: remove, mapping: mapping}
}

// RenameKey changes the key of a scalar in a mapping, and the scalar. Its line and
// comment are kept.
func RenameKey(mapping *yaml.Node, of Scalar, key, value string) Change {
	return Change{Scalar: of, Value: value, action: rename, key: key, mapping: mapping}
}

// Sets reports whether the change sets a scalar to another value.
func (c Change) Sets() bool { return c.action == set }

// Replacement is a span of a file and its new text.
type Replacement struct {
	Span Span
	Text string
}

// Replacement returns the bytes to replace in the file for the change.
func (c Change) Replacement() (Replacement, error) {
	var replaced Replacement
	var err error
	switch {
	case c.Scalar.Stream.IsText() && c.action == set:
		replaced, err = c.setText()
	case c.Scalar.Stream.IsText():
		err = errTextKey
	default:
		replaced, err = c.replacement()
	}
	if err != nil {
		return Replacement{}, err
	}
	return c.Scalar.Stream.outward(replaced)
}

// replacement returns the bytes to replace in a stream of YAML.
func (c Change) replacement() (replaced Replacement, err error) {
	switch c.action {
	case add:
		replaced, err = c.add()
	case remove:
		replaced, err = c.remove()
	case rename:
		replaced, err = c.rename()
	default:
		replaced, err = c.set()
	}
	return replaced, err
}

// outward converts a replacement in the stream to one in its file.
func (s *Stream) outward(r Replacement) (Replacement, error) {
	for s.block != nil {
		start, err := s.block.outerOffset(r.Span.Start)
		if err != nil {
			return Replacement{}, err
		}
		end, err := s.block.outerOffset(r.Span.End)
		if err != nil {
			return Replacement{}, err
		}
		r = Replacement{Span{start, end}, strings.ReplaceAll(r.Text, "\n", s.block.eol+s.block.indent)}
		s = s.block.outer
	}
	return r, nil
}

func (c Change) set() (Replacement, error) {
	n := c.Scalar.Node
	if n.Style&yaml.TaggedStyle != 0 && strings.HasPrefix(n.Tag, "!!") && n.Tag != "!!str" {
		return Replacement{}, fmt.Errorf("the YAML tag %.120q makes the value something other than text", n.Tag)
	}
	found, err := c.Scalar.Stream.Span(n)
	if err != nil {
		return Replacement{}, err
	}
	text, err := format(n, c.Scalar.Stream.textOf(found), c.Value)
	if found.Start == found.End {
		text = " " + text // after the colon of a key without a value
	}
	return Replacement{found, text}, err
}

func (s *Stream) textOf(at Span) string { return string(s.Data[at.Start:at.End]) }

var errOverlap = errors.New("two changes overlap in the file")

// Splice applies replacements, which it sorts, to the content of the file.
func Splice(data []byte, replacements []Replacement) ([]byte, error) {
	slices.SortStableFunc(replacements, func(a, b Replacement) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	size, end := len(data), 0
	for _, r := range replacements {
		if r.Span.Start < end || r.Span.End < r.Span.Start || r.Span.End > len(data) {
			return nil, errOverlap
		}
		end = r.Span.End
		size += len(r.Text) - (r.Span.End - r.Span.Start)
	}
	result := make([]byte, 0, size)
	end = 0
	for _, r := range replacements {
		result = append(result, data[end:r.Span.Start]...)
		result = append(result, r.Text...)
		end = r.Span.End
	}
	return append(result, data[end:]...), nil
}

// Aliases returns the aliases whose values change along with their anchors. The
// anchor may be on a changed scalar or on a mapping that contains it.
func Aliases(changes []Change) []Scalar {
	var streams []*Stream
	changed := map[*yaml.Node]bool{}
	for _, c := range changes {
		changed[c.Scalar.Node] = true
		for s := c.Scalar.Stream; ; s = s.block.outer {
			if !slices.Contains(streams, s) {
				streams = append(streams, s)
			}
			if s.block == nil {
				break
			}
			changed[s.block.node] = true
		}
	}
	var found []Scalar
	for _, s := range streams {
		a := aliases{changed: changed, moved: map[*yaml.Node]bool{}}
		for _, document := range s.Documents {
			a.visit(document)
		}
		for _, n := range a.found {
			found = append(found, Scalar{s, n})
		}
	}
	return found
}

// aliases finds the aliases of changed nodes in one stream.
type aliases struct {
	changed map[*yaml.Node]bool
	moved   map[*yaml.Node]bool // anchored nodes that contain a change
	found   []*yaml.Node
}

// visit reports whether the node contains a change. Anchors precede their
// aliases, so a single walk is enough.
func (a *aliases) visit(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		if a.moved[n.Alias] {
			a.found = append(a.found, n)
		}
		return false
	}
	changed := a.changed[n]
	for _, child := range n.Content {
		changed = a.visit(child) || changed
	}
	if changed && n.Anchor != "" {
		a.moved[n] = true
	}
	return changed
}
