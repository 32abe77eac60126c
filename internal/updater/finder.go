package updater

import (
	"errors"
	"fmt"
	"math/bits"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// finder walks the streams of one file and collects what the shapes find.
type finder struct {
	follower Follower
	shapes   *shapeSet
	sources  *sources
	path     string // of the file
	stream   *stream
	claimed  map[*yaml.Node]bool   // scalars that a shape has inspected
	owners   map[*yaml.Node]string // components of the sites, keyed by their scalars
	written  map[*yaml.Node]bool   // scalars named in the configuration
	parents  []*yaml.Node          // mappings that enclose the current node, outermost first
	keys     []string              // keys from the document root to the current node; list items add none

	registries []string // of a template, which has no values to look them up in

	marked   []marked // scalars with markers, in file order
	sites    []site
	refusals []edit.Refusal
	notes    []Note
	declared []declaration
	asks     bool // needs a source that another file may declare
}

// walk visits a node and all nodes below it, in file order. It does not follow
// aliases, because their targets are visited where they are defined.
func (f *finder) walk(n *yaml.Node) {
	switch n.Kind {
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, item := range n.Content {
			f.walk(item)
		}
	case yaml.MappingNode:
		f.visitMapping(n)
	case yaml.ScalarNode:
		f.visitScalar(n)
	}
}

func (f *finder) visitMapping(m *yaml.Node) {
	for set := f.shapes.of(m); set != 0; set &= set - 1 {
		f.shapes.all[bits.TrailingZeros64(set)].mapping(f, m)
	}
	f.parents = append(f.parents, m)
	for i := 0; i+1 < len(m.Content); i += 2 {
		f.keys = append(f.keys, m.Content[i].Value)
		f.walk(m.Content[i+1])
		f.keys = f.keys[:len(f.keys)-1]
	}
	f.parents = f.parents[:len(f.parents)-1]
}

func (f *finder) visitScalar(n *yaml.Node) {
	if f.stream.marks {
		f.visitMarker(n)
	}
	if n.Value == "" || f.claimed[n] {
		return
	}
	for i := range f.shapes.all {
		if visit := f.shapes.all[i].scalar; visit != nil && visit(f, n) {
			return
		}
	}
}

// follow returns the component for the repository name, if the name is
// followed.
func (f *finder) follow(name string) (Followed, bool) {
	reference, err := image.Parse(name)
	if err != nil || reference.Tag != "" || reference.Digest != "" {
		return Followed{}, false
	}
	return f.follower.Follow(f.path, reference.Repository)
}

// scalar returns the node as a scalar of the current stream.
func (f *finder) scalar(n *yaml.Node) scalar { return scalar{f.stream, n} }

// add records a site and claims its scalars, so that no other shape inspects
// them. A site that is reachable again through an alias or a merge is recorded
// once.
func (f *finder) add(s site) {
	again := true
	for _, p := range s.parts() {
		again = again && f.owners[p.scalar.node] == s.followed.Component
		f.claim(p.scalar.node)
	}
	if again {
		return
	}
	if err := f.covered(&s); err != nil {
		f.refuseAt(s.parts()[0].scalar, s.followed.Component, err.Error())
		return
	}
	if s.shape != shapeWrite && f.written[s.parts()[0].scalar.node] {
		return
	}
	for _, p := range s.parts() {
		f.owners[p.scalar.node] = s.followed.Component
	}
	if len(f.keys) > 0 {
		s.key = f.keys[len(f.keys)-1]
	}
	f.sites = append(f.sites, s)
}

// covered returns an error if the configuration names one scalar of a site but
// not the other, because tag and digest could then disagree.
func (f *finder) covered(s *site) error {
	if s.shape != shapeWrite && s.tag != nil && s.digest != nil &&
		f.written[s.tag.scalar.node] != f.written[s.digest.scalar.node] {
		return errHalfWritten
	}
	return nil
}

var errHalfWritten = errors.New("a write entry names one of tag and digest here; it must name both")

// claim prevents other shapes from inspecting the scalars.
func (f *finder) claim(nodes ...*yaml.Node) {
	for _, n := range nodes {
		if n != nil {
			f.claimed[n] = true
		}
	}
}

// refuse records a node that is left unchanged. A marker on the node supplies
// what the shape could not determine, so nothing is refused there.
func (f *finder) refuse(n *yaml.Node, component, format string, args ...any) {
	if m, found := f.marker(n); f.written[n] || found && !m.ignore || f.stream.ignores(n) {
		return
	}
	f.refuseAt(f.scalar(n), component, fmt.Sprintf(format, args...))
}

func (f *finder) refuseAt(s scalar, component, reason string) {
	f.refusals = append(f.refusals, edit.Refusal{
		File: f.path, Line: s.position(f.path).Line, Component: component, Reason: reason,
	})
}

// note records information for the user.
func (f *finder) note(n *yaml.Node, format string, args ...any) {
	f.notes = append(f.notes, Note{Position: f.at(n), Text: fmt.Sprintf(format, args...)})
}

// at returns the position of a node in the file, or only the file if the
// position is unknown.
func (f *finder) at(n *yaml.Node) edit.Position { return scalar{f.stream, n}.position(f.path) }
