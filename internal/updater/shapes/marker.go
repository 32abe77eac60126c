package shapes

import (
	"bytes"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
	"promoter/internal/updater/span"
)

// shapeMarker is a scalar with a trailing comment that names its component.
const shapeMarker edit.Shape = "marker"

// The fields that a marker may name.
const (
	fieldTag     = "tag"
	fieldDigest  = "digest"
	fieldVersion = "version"
	fieldName    = "name" // Flux: the repository, which never changes
)

// marker returns the marker in the comment after a scalar, if any.
func (x *sink) marker(s span.Scalar) (lex.Marker, bool) {
	if !x.markers || s.Node.Kind != yaml.ScalarNode {
		return lex.Marker{}, false
	}
	if s.Stream.IsText() {
		return lex.ParseMarker(s.Node.LineComment)
	}
	rest, afterValue := s.RestOfLine()
	comment, isComment := bytes.CutPrefix(bytes.TrimLeft(rest, " \t,]}"), []byte("#"))
	if !afterValue || !isComment {
		return lex.Marker{}, false
	}
	return lex.ParseMarker(strings.TrimSpace(string(comment)))
}

// ignores reports whether a comment on the scalar's line excludes it from
// changes. For a block scalar, the comment follows the indicator, because its
// text has no comments.
func (x *sink) ignores(s span.Scalar) bool {
	if !x.markers {
		return false
	}
	if s.Stream.IsText() {
		m, found := lex.ParseMarker(s.Node.LineComment)
		return found && m.Ignore
	}
	rest, _ := s.RestOfLine()
	return lex.IgnoresLine(string(rest))
}

// marked is a scalar with a marker.
type marked struct {
	marker   lex.Marker
	scalar   span.Scalar
	key      string
	mapping  *yaml.Node // the mapping that contains the scalar; nil if it is in a list
	followed site.Followed
}

// visitMarker records a marked scalar. Its site is created after all shapes
// have run, because a marker on a site that a shape found is redundant.
func visitMarker(d *document, out *sink, n *yaml.Node) {
	s := d.scalar(n)
	m, found := out.marker(s)
	if !found {
		visitRenovate(d, out, n)
		return
	}
	if m.Ignore {
		return
	}
	followed, found := d.follower.Named(d.file, m.Component)
	switch {
	case m.Field == fieldName:
		if found {
			noteName(d, out, n, m, followed)
		}
		return
	case !found:
		out.note(s, "the marker names %s, which is not followed here", lex.Shorten(m.Component))
		return
	}
	if s.Stream.IsText() && n.Tag == nullTag {
		out.refuseAt(s, followed.Component, unclearMarker)
		return
	}
	out.mark(d, m, s, followed)
}

// mark records a marked scalar.
func (x *sink) mark(d *document, m lex.Marker, s span.Scalar, followed site.Followed) {
	mark := marked{marker: m, scalar: s, key: d.key(), followed: followed}
	if len(d.parents) > 0 && !s.Stream.IsText() {
		mark.mapping = d.parents[len(d.parents)-1]
	}
	if s.Stream.IsText() {
		x.pairInText(&mark)
	}
	x.marked = append(x.marked, mark)
}

// misnamed is a name with a marker of Flux that is the name of another image. Flux would write the name of its own.
type misnamed struct {
	component string
	mapping   *yaml.Node // that contains it
}

// noteName records a name with a marker, unless it is that of the component.
func noteName(d *document, out *sink, n *yaml.Node, m lex.Marker, followed site.Followed) {
	if len(d.parents) == 0 {
		return
	}
	mapping := d.parents[len(d.parents)-1]
	names := []string{n.Value}
	if registry := node.FirstText(mapping, "registry", "imageRegistry", "image_registry", "hub"); registry != "" {
		names = append(names, joinName(registry, n.Value))
	}
	for _, name := range names {
		if isNameOf(followed, name) {
			return
		}
	}
	if out.misnamed == nil {
		out.misnamed = map[misnamed][]error{}
	}
	at := misnamed{m.Component, mapping}
	out.misnamed[at] = append(out.misnamed[at], misnamedError(d, n, n.Value, followed))
}

func misnamedError(d *document, n *yaml.Node, name string, followed site.Followed) error {
	line := d.scalar(n).Position(d.file).Line
	return fmt.Errorf("%s in line %d has a marker of %s, which is %s: correct the name, or add the mirror to mirrors",
		lex.Shorten(name), line, followed.Component, followed.Repository)
}

// isNameOf reports whether a text is the name of a component, or of its mirror.
func isNameOf(followed site.Followed, name string) bool {
	reference, err := image.Parse(name)
	return err == nil && (reference.Repository == followed.Repository || reference.Repository == followed.Mirror)
}

// commentLines are the lines of streams, none of those without comments for Renovate.
type commentLines map[*span.Stream][][]byte

// visitRenovate records a scalar whose version a comment for Renovate is about: on its line, or alone on the line above.
func visitRenovate(d *document, out *sink, n *yaml.Node) {
	if !node.IsText(n) {
		return
	}
	s := d.scalar(n)
	lines, known := out.comments[d.stream]
	if !known {
		if lex.MayHaveRenovate(d.stream.Data) {
			lines = bytes.Split(d.stream.Data, []byte("\n"))
		}
		if out.comments == nil {
			out.comments = commentLines{}
		}
		out.comments[d.stream] = lines
	}
	if n.Line < 1 || n.Line > len(lines) {
		return
	}
	rest, _ := s.RestOfLine()
	_, comment, found := bytes.Cut(rest, []byte("#"))
	if before, _, flow := bytes.Cut(lines[n.Line-1], []byte("{")); !found && !flow && n.Line > 1 && !bytes.Contains(before, []byte("[")) {
		comment, found = bytes.CutPrefix(bytes.TrimSpace(lines[n.Line-2]), []byte("#"))
	}
	name, isMarker := lex.ParseRenovate(string(comment))
	if !found || !isMarker {
		return
	}
	if followed, follows := d.follow(name); follows {
		out.mark(d, lex.Marker{Component: followed.Component}, s, followed)
	}
}

const unclearMarker = "the line of the marker has no value, or several; write the marker at the end of a line with one"

// pairInText lets a tag and a digest in text that is not YAML belong together, as if they were in
// one mapping: each with the last one of its component that has no other.
func (x *sink) pairInText(mark *marked) {
	digest := mark.part().IsDigest()
	if !digest && mark.part().Format != site.FormatTag {
		return
	}
	for i := len(x.marked) - 1; i >= max(0, len(x.marked)-nearMarkers); i-- {
		other := &x.marked[i]
		format := other.part().Format
		if other.marker.Component != mark.marker.Component || format != site.FormatTag && !other.part().IsDigest() {
			continue
		}
		if other.mapping == nil && other.part().IsDigest() != digest {
			pair := &yaml.Node{Kind: yaml.MappingNode}
			other.mapping, mark.mapping = pair, pair
		}
		return
	}
}

// nearMarkers is how many markers around one are compared with it, because a list may have any
// number of them.
const nearMarkers = 8

// finish completes the findings of a file: it turns markers into sites and drops
// sites on ignored lines.
func (x *sink) finish() Findings {
	sites := x.sitesOfMarked()
	for i, mark := range x.marked {
		component := x.claimed[mark.scalar.Node]
		switch {
		case component == "":
			x.addMarked(i)
		case x.confirm(mark, sites[mark.scalar.Node]):
		case component != mark.marker.Component:
			x.refuseAt(mark.scalar, "", "the marker names "+mark.marker.Component+" and the value is of "+component)
		}
	}
	kept := x.found.Sites[:0]
	for _, s := range x.found.Sites {
		ignored := false
		for _, p := range s.Parts() {
			ignored = ignored || x.ignores(p.Scalar)
		}
		if !ignored {
			kept = append(kept, s)
		}
	}
	x.found.Sites = kept
	x.barReaders()
	return x.found
}

// confirm marks the site of a marked scalar, if it is of the repository of the marker: of several
// components, it is of the one that the marker names.
func (x *sink) confirm(mark marked, sites []int) (confirmed bool) {
	for _, i := range sites {
		if s := &x.found.Sites[i]; s.Followed.Repository == mark.followed.Repository {
			s.Followed, s.Marked = mark.followed, true
			confirmed = true
		}
	}
	return confirmed
}

// sitesOfMarked returns the sites that each marked scalar is a part of.
func (x *sink) sitesOfMarked() map[*yaml.Node][]int {
	if len(x.marked) == 0 {
		return nil
	}
	sites := map[*yaml.Node][]int{}
	for i := range x.found.Sites {
		for _, p := range x.found.Sites[i].Parts() {
			sites[p.Scalar.Node] = append(sites[p.Scalar.Node], i)
		}
	}
	return sites
}

// addMarked adds the site of a marked scalar, including the digest marked next
// to it.
func (x *sink) addMarked(i int) {
	mark := x.marked[i]
	s := site.Site{Shape: shapeMarker, Followed: mark.followed, Marked: true}
	if p := mark.part(); p.IsDigest() {
		if x.sibling(i, func(m marked) bool { return m.part().Format == site.FormatTag }) != nil {
			return // the tag's marker creates the site for both
		}
		s.Digest = p
	} else {
		s.Tag = p
		if other := x.sibling(i, func(m marked) bool { return m.part().IsDigest() }); other != nil && p.Format == site.FormatTag {
			s.Digest = other.part()
		}
	}
	for _, p := range s.Parts() {
		if problem := p.Problem(); problem != "" {
			x.refuseAt(p.Scalar, mark.marker.Component, problem)
			return
		}
	}
	for _, why := range x.misnamed[misnamed{mark.marker.Component, mark.mapping}] {
		s.Bar(why)
	}
	if p := s.Tag; mark.marker.Flux && p != nil && p.Format == site.FormatReference && !isNameOf(mark.followed, p.Name) {
		s.Bar(fmt.Errorf("%s has a marker of %s, which is %s: correct the name, or add the mirror to mirrors",
			lex.Shorten(p.Name), mark.followed.Component, mark.followed.Repository))
	}
	x.found.Sites = append(x.found.Sites, s)
}

// sibling returns the matching other marker of the same mapping and component,
// or nil. It checks only the nearest markers.
func (x *sink) sibling(i int, fits func(marked) bool) *marked {
	mark := x.marked[i]
	for j := max(0, i-nearMarkers); j < min(len(x.marked), i+nearMarkers+1); j++ {
		other := &x.marked[j]
		if j != i && mark.mapping != nil && other.mapping == mark.mapping &&
			other.marker.Component == mark.marker.Component && fits(*other) {
			return other
		}
	}
	return nil
}

// part returns the part of the version that a marked scalar contains: as the
// marker specifies, otherwise as the value suggests.
func (m marked) part() *site.Part {
	value := m.scalar.Value()
	switch m.marker.Field {
	case fieldTag:
		return &site.Part{Scalar: m.scalar, Format: site.FormatTag}
	case fieldVersion:
		return &site.Part{Scalar: m.scalar, Format: site.FormatVersion}
	case fieldDigest:
		return site.DigestPart(m.scalar, m.key)
	}
	before, name, after := lex.CutReference(value)
	reference, err := image.Parse(name)
	switch {
	case image.ValidDigest(value):
		return site.DigestPart(m.scalar, m.key)
	case err == nil && (reference.Tag != "" || reference.Digest != ""):
		return &site.Part{Scalar: m.scalar, Format: site.FormatReference, Before: before, After: after, Name: reference.Name}
	case m.followed.Artifact == image.ArtifactChart:
		return &site.Part{Scalar: m.scalar, Format: site.FormatChart}
	default:
		return &site.Part{Scalar: m.scalar, Format: site.FormatTag}
	}
}
