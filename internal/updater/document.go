package updater

import (
	"math/bits"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/image"
	"promoter/internal/updater/span"
)

// document is what shapes read: the stream that is being walked, the keys and
// mappings above the current node, and what defines the meaning of a name.
type document struct {
	file     string // path
	stream   *span.Stream
	keys     []string     // from the root of the stream to the current node; list items add none
	parents  []*yaml.Node // mappings that enclose the current node, outermost first
	follower Follower
	sources  sources
	shapes   *shapeSet
}

// walk visits a node and all nodes below it, in file order. It does not follow
// aliases, because their targets are visited where they are defined.
func (d *document) walk(n *yaml.Node, out *sink) {
	switch n.Kind {
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, item := range n.Content {
			d.walk(item, out)
		}
	case yaml.MappingNode:
		d.visitMapping(n, out)
	case yaml.ScalarNode:
		d.visitScalar(n, out)
	}
}

func (d *document) visitMapping(m *yaml.Node, out *sink) {
	for set := d.shapes.of(m); set != 0; set &= set - 1 {
		d.shapes.all[bits.TrailingZeros64(set)].mapping(d, out, m)
	}
	d.parents = append(d.parents, m)
	for i := 0; i+1 < len(m.Content); i += 2 {
		d.keys = append(d.keys, m.Content[i].Value)
		d.walk(m.Content[i+1], out)
		d.keys = d.keys[:len(d.keys)-1]
	}
	d.parents = d.parents[:len(d.parents)-1]
}

func (d *document) visitScalar(n *yaml.Node, out *sink) {
	if out.markers {
		visitMarker(d, out, n)
	}
	if n.Value == "" || out.isClaimed(n) {
		return
	}
	for i := range d.shapes.all {
		if visit := d.shapes.all[i].scalar; visit != nil && visit(d, out, n) {
			return
		}
	}
}

// walkNested visits a stream in a scalar of the document.
func (d *document) walkNested(nested *span.Stream, out *sink) {
	inner := *d
	inner.stream, inner.keys, inner.parents = nested, nil, nil
	for _, root := range nested.Documents {
		inner.walk(root, out)
	}
}

// key returns the nearest key above the current node.
func (d *document) key() string {
	if len(d.keys) == 0 {
		return ""
	}
	return d.keys[len(d.keys)-1]
}

// scalar returns the node as a scalar of the stream.
func (d *document) scalar(n *yaml.Node) span.Scalar { return span.Scalar{Stream: d.stream, Node: n} }

// follow returns the component for the repository name, if the name is
// followed.
func (d *document) follow(name string) (Followed, bool) {
	return followName(d.follower, d.file, name)
}

func followName(follower Follower, file, name string) (Followed, bool) {
	reference, err := image.Parse(name)
	if err != nil || reference.Tag != "" || reference.Digest != "" {
		return Followed{}, false
	}
	return follower.Follow(file, reference.Repository)
}
