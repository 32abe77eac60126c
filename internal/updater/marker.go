package updater

import (
	"bytes"
	"encoding/json"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/span"
)

// shapeMarker is a scalar with a trailing comment that names its component.
const shapeMarker edit.Shape = "marker"

// Markers in comments: promoter's own and Flux's.
const (
	markOwn  = "promoter:"
	markFlux = `"$imagepolicy"`
)

// The fields that a marker may name.
const (
	fieldTag     = "tag"
	fieldDigest  = "digest"
	fieldVersion = "version"
	fieldName    = "name" // Flux: the repository, which never changes
)

// marker is a trailing comment that states which component's version, or which
// part of it, the value contains.
type marker struct {
	component string
	field     string // tag, digest, version, name; if empty, derived from the value
	ignore    bool   // the line is not changed
}

// parseMarker parses the text of a comment.
func parseMarker(comment string) (marker, bool) {
	if rest, found := strings.CutPrefix(comment, markOwn); found {
		component, field, _ := strings.Cut(strings.TrimSpace(rest), ".")
		return marker{component: component, field: field, ignore: component == "ignore"}, component != ""
	}
	var flux struct {
		Policy string `json:"$imagepolicy"`
	}
	if !strings.HasPrefix(comment, "{") || json.Unmarshal([]byte(comment), &flux) != nil {
		return marker{}, false
	}
	names := strings.Split(flux.Policy, ":")
	if len(names) < 2 || len(names) > 3 || names[1] == "" {
		return marker{}, false
	}
	m := marker{component: names[1]}
	if len(names) == 3 {
		m.field = names[2]
	}
	return m, true
}

// mayHaveMarkers reports whether the text may contain markers.
func mayHaveMarkers(data []byte) bool {
	return bytes.Contains(data, []byte(markOwn)) || bytes.Contains(data, []byte(markFlux))
}

// marker returns the marker in the comment after a scalar, if any.
func (x *sink) marker(s span.Scalar) (marker, bool) {
	if !x.markers || s.Node.Kind != yaml.ScalarNode {
		return marker{}, false
	}
	rest, afterValue := s.RestOfLine()
	comment, isComment := bytes.CutPrefix(bytes.TrimLeft(rest, " \t,]}"), []byte("#"))
	if !afterValue || !isComment {
		return marker{}, false
	}
	return parseMarker(strings.TrimSpace(string(comment)))
}

// ignores reports whether a comment on the scalar's line excludes it from
// changes. For a block scalar, the comment follows the indicator, because its
// text has no comments.
func (x *sink) ignores(s span.Scalar) bool {
	if !x.markers {
		return false
	}
	rest, _ := s.RestOfLine()
	return ignoresLine(string(rest))
}

// ignoresLine reports whether the rest of a line ends in a comment that
// excludes the line from changes.
func ignoresLine(rest string) bool {
	at := strings.LastIndexByte(rest, '#')
	if at < 0 || at > 0 && rest[at-1] != ' ' && rest[at-1] != '\t' {
		return false
	}
	m, found := parseMarker(strings.TrimSpace(rest[at+1:]))
	return found && m.ignore
}

// marked is a scalar with a marker.
type marked struct {
	marker
	scalar   span.Scalar
	mapping  *yaml.Node // the mapping that contains the scalar; nil if it is in a list
	followed Followed
}

// visitMarker records a marked scalar. Its site is created after all shapes
// have run, because a marker on a site that a shape found is redundant.
func visitMarker(d *document, out *sink, n *yaml.Node) {
	s := d.scalar(n)
	m, found := out.marker(s)
	if !found || m.ignore || m.field == fieldName {
		return
	}
	followed, found := d.follower.Named(d.file, m.component)
	if !found {
		out.note(s, "the marker names %s, which is not followed here", shorten(m.component))
		return
	}
	mark := marked{marker: m, scalar: s, followed: followed}
	if len(d.parents) > 0 {
		mark.mapping = d.parents[len(d.parents)-1]
	}
	out.marked = append(out.marked, mark)
}

// finish completes the findings of a file: it turns markers into sites and drops
// sites on ignored lines.
func (x *sink) finish() findings {
	for i, mark := range x.marked {
		component := x.claimed[mark.scalar.Node]
		switch {
		case component == "":
			x.addMarked(i)
		case component != mark.component:
			x.refuseAt(mark.scalar, "", "the marker names "+mark.component+" and the value is of "+component)
		}
	}
	kept := x.sites[:0]
	for _, s := range x.sites {
		ignored := false
		for _, p := range s.parts() {
			ignored = ignored || x.ignores(p.scalar)
		}
		if !ignored {
			kept = append(kept, s)
		}
	}
	x.sites = kept
	return x.findings
}

// addMarked adds the site of a marked scalar, including the digest marked next
// to it.
func (x *sink) addMarked(i int) {
	mark := x.marked[i]
	s := site{shape: shapeMarker, followed: mark.followed}
	if p := mark.part(); p.isDigest() {
		if x.sibling(i, func(m marked) bool { return m.part().format == formatTag }) != nil {
			return // the tag's marker creates the site for both
		}
		s.digest = p
	} else {
		s.tag = p
		if other := x.sibling(i, func(m marked) bool { return m.part().isDigest() }); other != nil && p.format == formatTag {
			s.digest = other.part()
		}
	}
	for _, p := range s.parts() {
		if problem := p.problem(); problem != "" {
			x.refuseAt(p.scalar, mark.component, problem)
			return
		}
	}
	x.sites = append(x.sites, s)
}

// sibling returns the matching other marker of the same mapping and component,
// or nil. It checks only the nearest markers, because a list may have any number
// of them.
func (x *sink) sibling(i int, fits func(marked) bool) *marked {
	const near = 8
	mark := x.marked[i]
	for j := max(0, i-near); j < min(len(x.marked), i+near+1); j++ {
		other := &x.marked[j]
		if j != i && mark.mapping != nil && other.mapping == mark.mapping &&
			other.component == mark.component && fits(*other) {
			return other
		}
	}
	return nil
}

// part returns the part of the version that a marked scalar contains: as the
// marker specifies, otherwise as the value suggests.
func (m marked) part() *part {
	value := m.scalar.Value()
	switch m.field {
	case fieldTag:
		return &part{scalar: m.scalar, format: formatTag}
	case fieldVersion:
		return &part{scalar: m.scalar, format: formatVersion}
	case fieldDigest:
		return digestPart(m.scalar)
	}
	before, name, after := cutReference(value)
	reference, err := image.Parse(name)
	switch {
	case image.ValidDigest(value):
		return digestPart(m.scalar)
	case err == nil && (reference.Tag != "" || reference.Digest != ""):
		return &part{scalar: m.scalar, format: formatReference, before: before, after: after, name: reference.Name}
	case m.followed.Artifact == image.ArtifactChart:
		return &part{scalar: m.scalar, format: formatChart}
	default:
		return &part{scalar: m.scalar, format: formatTag}
	}
}
