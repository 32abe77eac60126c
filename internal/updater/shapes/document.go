package shapes

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
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
	sources  Sources
	shapes   *shapeSet
	indexes  *indexes
	aliased  bool // the file may have anchors and aliases
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
	if len(d.shapes.all) > 0 && configuresTools(m) {
		d = d.onlyMarkers()
	}
	sites, refusals := len(out.found.Sites), len(out.found.Refusals)
	for set := d.shapes.of(m); set != 0; set &= set - 1 {
		d.shapes.all[bits.TrailingZeros64(set)].mapping(d, out, m)
	}
	for component := range out.componentsSince(sites, refusals) {
		out.inspectedAround(d, m, component)
	}
	d.parents = append(d.parents, m)
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Kind == yaml.MappingNode {
			findAction(d, out, m.Content[i])
		}
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
func (d *document) follow(name string) (site.Followed, bool) {
	return followName(d.follower, d.file, name)
}

func followName(follower Follower, file, name string) (site.Followed, bool) {
	reference, err := image.Parse(name)
	if err != nil || reference.Tag != "" || reference.Digest != "" {
		return site.Followed{}, false
	}
	return follower.Follow(file, reference.Repository)
}

// Findings are the results of analyzing one file.
type Findings struct {
	Sites    []site.Site
	Refusals []edit.Refusal
	Notes    []edit.Note
	Declared []Declaration
	// Others are references that no component follows, at most maxOthers.
	Others []edit.Reference
	// Inspected are the lines of names whose version a shape has found, or knows to be elsewhere.
	Inspected map[Inspected]bool
	// NeedsSources reports that the sites depend on sources that other files may
	// declare.
	NeedsSources bool
}

// sink collects what the shapes find in one file.
type sink struct {
	found    Findings
	file     string                // path
	claimed  map[*yaml.Node]string // scalars that a shape has inspected, and the component of their site, if any
	written  map[*yaml.Node]bool   // scalars named in the configuration
	markers  bool                  // the file may contain markers
	marked   []marked              // scalars with markers, in file order
	readers  map[*yaml.Node][]reader
	misnamed map[misnamed][]error // why the names with a marker of another image are wrong
	comments commentLines
}

func newSink(file string, content []byte) *sink {
	return &sink{file: file, claimed: map[*yaml.Node]string{}, markers: lex.MayHaveMarkers(content)}
}

// maxOthers is how many references of a file that no component follows are kept.
const maxOthers = 20

// componentsSince returns the components of the sites and refusals after some.
func (x *sink) componentsSince(sites, refusals int) map[string]bool {
	if len(x.found.Sites) == sites && len(x.found.Refusals) == refusals {
		return nil
	}
	components := map[string]bool{}
	for i := range x.found.Sites[sites:] {
		components[x.found.Sites[sites+i].Followed.Component] = true
	}
	for i := range x.found.Refusals[refusals:] {
		components[x.found.Refusals[refusals+i].Component] = true
	}
	return components
}

// inspectedAround records that the names of a component in a mapping, and in its spec, need no other version: a
// shape has inspected them.
func (x *sink) inspectedAround(d *document, m *yaml.Node, component string) {
	x.inspected(d, m, component)
	x.inspected(d, node.Get(m, "spec"), component)
}

func (x *sink) inspected(d *document, m *yaml.Node, component string) {
	if m == nil || m.Kind != yaml.MappingNode {
		return
	}
	for i := 1; i < len(m.Content); i += 2 {
		if value := m.Content[i]; value.Kind == yaml.ScalarNode && strings.Contains(value.Value, "/") {
			if x.found.Inspected == nil {
				x.found.Inspected = map[Inspected]bool{}
			}
			x.found.Inspected[Inspected{d.scalar(value).Position(x.file).Line, component}] = true
		}
	}
}

// Inspected is a line that has the name of a component.
type Inspected struct {
	Line      int
	Component string
}

// other records a reference that no component follows. It is only shown.
func (x *sink) other(shape edit.Shape, at span.Scalar, repository image.Repository, tag, digest string) {
	if len(x.found.Others) < maxOthers {
		x.found.Others = append(x.found.Others, edit.Reference{
			Shape: shape, Position: at.Position(x.file), Repository: repository, Tag: strings.Clone(tag), Digest: strings.Clone(digest),
		})
	}
}

// add records a site and claims its scalars, so that no other shape inspects
// them. A site that is reachable again through an alias or a merge is recorded
// once. key is the key of its mapping or list.
func (x *sink) add(s site.Site, key string) {
	s.Key = key
	tag, _ := s.Current()
	followed, fits := x.of(s.First().Scalar, s.Followed, s.Kind, tag)
	if !fits {
		for _, p := range s.Parts() {
			x.claim(p.Scalar.Node)
		}
		return
	}
	s.Followed = followed
	recorded := true
	for _, p := range s.Parts() {
		recorded = recorded && x.claimed[p.Scalar.Node] == s.Followed.Component
		x.claim(p.Scalar.Node)
	}
	if recorded {
		return
	}
	first := s.First().Scalar
	if s.Shape != shapeWrite {
		if s.Tag != nil && s.Digest != nil && x.written[s.Tag.Scalar.Node] != x.written[s.Digest.Scalar.Node] {
			x.refuseAt(first, s.Followed.Component, errHalfWritten.Error())
			return
		}
		if x.written[first.Node] {
			return
		}
	}
	for _, p := range s.Parts() {
		x.claimed[p.Scalar.Node] = s.Followed.Component
	}
	_, marked := x.marker(first)
	if tag, digest := s.Current(); !marked && s.Shape != shapeWrite && digest == "" && buildTag.MatchString(tag) {
		x.note(first, "a build replaces the tag %s of %s: left unchanged", lex.Shorten(tag), s.Followed.Repository.Familiar())
		return
	}
	x.found.Sites = append(x.found.Sites, s)
}

// addPart records a site that is a part of a scalar, which may have others.
func (x *sink) addPart(s site.Site, key string) {
	delete(x.claimed, s.First().Scalar.Node)
	x.add(s, key)
}

// of returns the component of a repository that a location is of. If there is none, it records why
// the location is left unchanged.
func (x *sink) of(at span.Scalar, followed site.Followed, kind image.Artifact, tag string) (site.Followed, bool) {
	found, fits := followed.Of(kind, tag)
	if !fits {
		what := map[image.Artifact]string{image.ArtifactImage: "an image", image.ArtifactChart: "a chart"}
		is := cmp.Or(what[kind], "a chart or another artifact")
		x.note(at, "%s follows %s, and this is the version of %s: left unchanged", followed.Component, what[followed.Artifact], is)
	}
	return found, fits
}

// buildTag matches a tag that a build replaces, such as IMAGE_TAG. Released tags in
// capital letters have digits, dots, or dashes, or are one word.
var buildTag = regexp.MustCompile(`^(?:[A-Z_]*_[A-Z_]*|TAG|VERSION|PLACEHOLDER|REPLACEME|CHANGEME)$`)

// Tag and digest could disagree if only one of them were written.
var errHalfWritten = errors.New("a write entry names one of tag and digest here; it must name both")

// claim prevents other shapes from inspecting the scalars.
func (x *sink) claim(nodes ...*yaml.Node) {
	for _, n := range nodes {
		if n != nil && !x.isClaimed(n) {
			x.claimed[n] = ""
		}
	}
}

func (x *sink) isClaimed(n *yaml.Node) bool {
	_, claimed := x.claimed[n]
	return claimed
}

// refuse records a scalar that is left unchanged. A marker on it supplies what
// the shape could not determine, so nothing is refused there.
func (x *sink) refuse(s span.Scalar, component, format string, args ...any) {
	if m, found := x.marker(s); x.written[s.Node] || found && !m.Ignore || x.ignores(s) {
		return
	}
	x.refuseAt(s, component, fmt.Sprintf(format, args...))
}

func (x *sink) refuseAt(s span.Scalar, component, reason string) {
	x.refuseLine(s.Position(x.file).Line, component, reason)
}

func (x *sink) refuseLine(line int, component, reason string) {
	x.found.Refusals = append(x.found.Refusals, edit.Refusal{File: x.file, Line: line, Component: component, Reason: reason})
}

// note records information for the user.
func (x *sink) note(s span.Scalar, format string, args ...any) {
	x.found.Notes = append(x.found.Notes, edit.Note{Position: s.Position(x.file), Text: fmt.Sprintf(format, args...)})
}
