package lex

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Markers in comments: promoter's own and Flux's.
const (
	OwnMarker  = "promoter:"
	FluxMarker = `"$imagepolicy"`
)

// Marker is a trailing comment that states which component's version, or which
// part of it, the value contains.
type Marker struct {
	Component string
	Field     string // tag, digest, version, name; if empty, derived from the value
	Ignore    bool   // the line is not changed
	Flux      bool   // it is a marker of Flux
}

// ParseMarker parses the text of a comment.
func ParseMarker(comment string) (Marker, bool) {
	if rest, found := strings.CutPrefix(comment, OwnMarker); found {
		component, field, _ := strings.Cut(strings.TrimSpace(rest), ".")
		return Marker{Component: component, Field: field, Ignore: component == "ignore"}, component != ""
	}
	var flux struct {
		Policy string `json:"$imagepolicy"`
	}
	if !strings.HasPrefix(comment, "{") || json.Unmarshal([]byte(comment), &flux) != nil {
		return Marker{}, false
	}
	names := strings.Split(flux.Policy, ":")
	if len(names) < 2 || len(names) > 3 || names[1] == "" {
		return Marker{}, false
	}
	m := Marker{Component: names[1], Flux: true}
	if len(names) == 3 {
		m.Field = names[2]
	}
	return m, true
}

// MayHaveMarkers reports whether the text may contain markers.
func MayHaveMarkers(data []byte) bool {
	return bytes.Contains(data, []byte(OwnMarker)) || bytes.Contains(data, []byte(FluxMarker)) || MayHaveRenovate(data)
}

// IgnoresLine reports whether the rest of a line ends in a comment that
// excludes the line from changes.
func IgnoresLine(rest string) bool {
	at := strings.LastIndexByte(rest, '#')
	if at < 0 || at > 0 && rest[at-1] != ' ' && rest[at-1] != '\t' {
		return false
	}
	m, found := ParseMarker(strings.TrimSpace(rest[at+1:]))
	return found && m.Ignore
}
