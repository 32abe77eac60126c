package updater

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
)

// shapeMarker is a scalar that a comment behind it names a component for.
const shapeMarker edit.Shape = "marker"

// What the comments of marks hold: promoter's own and Flux's.
const (
	markOwn  = "promoter:"
	markFlux = `"$imagepolicy"`
)

// marker is a comment behind a value that says which component's version, or
// which part of it, the value holds.
type marker struct {
	component string
	field     string // tag, digest, version, name; empty: what the value looks like
	ignore    bool   // the line stays as it is
}

// markers are a stream's by the line on which they stand, counted as the parser
// counts.
type markers map[int]marker

// findMarkers reads the marks of a stream's lines. Whether a mark stands in a
// comment is only known once a scalar is seen to end before it.
func findMarkers(t *text) markers {
	if !bytes.Contains(t.data, []byte(markOwn)) && !bytes.Contains(t.data, []byte(markFlux)) {
		return nil
	}
	found := markers{}
	for i, start := range t.lines {
		end := len(t.data)
		if i+1 < len(t.lines) {
			end = t.lines[i+1]
		}
		line := string(bytes.TrimSpace(t.data[start:end]))
		if at := strings.LastIndex(line, "# "); at >= 0 {
			if m, ok := parseMarker(strings.TrimSpace(line[at+1:])); ok {
				found[i+1] = m
			}
		}
	}
	return found
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
	if len(names) < 2 || len(names) > 3 {
		return marker{}, false
	}
	m := marker{component: names[1]}
	if len(names) == 3 {
		m.field = names[2]
	}
	return m, true
}

// of returns the mark behind a node that ends on the line.
func (m markers) of(n *yaml.Node) (marker, bool) {
	found, ok := m[n.Line]
	return found, ok
}
