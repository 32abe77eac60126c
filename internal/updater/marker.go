package updater

import (
	"bytes"
	"encoding/json"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
)

// shapeMarker is a scalar that a comment behind it names a component for.
const shapeMarker edit.Shape = "marker"

// What the comments of marks hold: promoter's own and Flux's.
const (
	markOwn  = "promoter:"
	markFlux = `"$imagepolicy"`
)

// The fields that a mark may name.
const (
	fieldTag     = "tag"
	fieldDigest  = "digest"
	fieldVersion = "version"
	fieldName    = "name" // Flux: the repository, which never changes
)

// marker is a comment behind a value that says which component's version, or
// which part of it, the value holds.
type marker struct {
	component string
	field     string // tag, digest, version, name; empty: what the value looks like
	ignore    bool   // the line stays as it is
}

// marked is a scalar with a mark.
type marked struct {
	marker
	scalar   scalar
	mapping  *yaml.Node // that holds the scalar; nil: a list does
	followed Followed
}

// hasMarkers says whether the text may hold marks at all.
func hasMarkers(data []byte) bool {
	return bytes.Contains(data, []byte(markOwn)) || bytes.Contains(data, []byte(markFlux))
}

// marker returns the mark in the comment behind a scalar, if there is one.
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

// visitMarker remembers a marked scalar. Its site is made when all shapes were
// asked, because a mark on what they find says nothing new.
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

// parseMarker reads the text of a comment.
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
