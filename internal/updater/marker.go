package updater

import (
	"bytes"
	"encoding/json"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
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

// marked is a scalar with a marker.
type marked struct {
	marker
	scalar   scalar
	mapping  *yaml.Node // the mapping that contains the scalar; nil if it is in a list
	followed Followed
}

// hasMarkers reports whether the text may contain markers.
func hasMarkers(data []byte) bool {
	return bytes.Contains(data, []byte(markOwn)) || bytes.Contains(data, []byte(markFlux))
}

// marker returns the marker in the comment after a scalar, if any.
func (f *finder) marker(n *yaml.Node) (marker, bool) {
	if !f.stream.marks || n.Kind != yaml.ScalarNode {
		return marker{}, false
	}
	found, err := f.stream.span(n)
	if err != nil {
		return marker{}, false
	}
	rest := f.stream.data[found.end:f.stream.lineEnd(found.end)]
	comment, isComment := bytes.CutPrefix(bytes.TrimLeft(rest, " \t,]}"), []byte("#"))
	if !isComment {
		return marker{}, false
	}
	return parseMarker(strings.TrimSpace(string(comment)))
}

// visitMarker records a marked scalar. Its site is created after all shapes
// have run, because a marker on a site that a shape found is redundant.
func (f *finder) visitMarker(n *yaml.Node) {
	m, found := f.marker(n)
	if !found || m.ignore || m.field == fieldName {
		return
	}
	followed, found := f.follower.Named(f.path, m.component)
	if !found {
		f.note(n, "the mark names %s, which is not followed here", shorten(m.component))
		return
	}
	mark := marked{marker: m, scalar: f.scalar(n), followed: followed}
	if len(f.parents) > 0 {
		mark.mapping = f.parents[len(f.parents)-1]
	}
	f.marked = append(f.marked, mark)
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
