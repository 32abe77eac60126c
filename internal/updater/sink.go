package updater

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/span"
)

// findings are the results of analyzing one file.
type findings struct {
	sites    []site
	refusals []edit.Refusal
	notes    []Note
	declared []declaration
	held     []edit.Hold
	// others are references that no component follows, at most maxOthers.
	others []edit.Reference
	// needsSources reports that the sites depend on sources that other files may
	// declare.
	needsSources bool
}

// sink collects what the shapes find in one file.
type sink struct {
	findings

	file    string                // path
	claimed map[*yaml.Node]string // scalars that a shape has inspected, and the component of their site, if any
	written map[*yaml.Node]bool   // scalars named in the configuration
	markers bool                  // the file may contain markers
	marked  []marked              // scalars with markers, in file order
}

func newSink(file string, content []byte) *sink {
	return &sink{file: file, claimed: map[*yaml.Node]string{}, markers: mayHaveMarkers(content)}
}

// maxOthers is how many references of a file that no component follows are kept.
const maxOthers = 20

// other records a reference that no component follows. It is only shown.
func (s *sink) other(shape edit.Shape, at span.Scalar, repository image.Repository, tag, digest string) {
	if len(s.others) < maxOthers {
		s.others = append(s.others, edit.Reference{
			Shape: shape, Position: at.Position(s.file), Repository: repository, Tag: strings.Clone(tag), Digest: strings.Clone(digest),
		})
	}
}

// add records a site and claims its scalars, so that no other shape inspects
// them. A site that is reachable again through an alias or a merge is recorded
// once. key is the key of its mapping or list.
func (x *sink) add(s site, key string) {
	s.key = key
	recorded := true
	for _, p := range s.parts() {
		recorded = recorded && x.claimed[p.scalar.Node] == s.followed.Component
		x.claim(p.scalar.Node)
	}
	if recorded {
		return
	}
	first := s.first().scalar
	if s.shape != shapeWrite {
		if s.tag != nil && s.digest != nil && x.written[s.tag.scalar.Node] != x.written[s.digest.scalar.Node] {
			x.refuseAt(first, s.followed.Component, errHalfWritten.Error())
			return
		}
		if x.written[first.Node] {
			return
		}
	}
	for _, p := range s.parts() {
		x.claimed[p.scalar.Node] = s.followed.Component
	}
	_, marked := x.marker(first)
	if tag, digest := s.current(); !marked && s.shape != shapeWrite && digest == "" && buildTag.MatchString(tag) {
		x.note(first, "a build replaces the tag %s of %s: left unchanged", tag, s.followed.Repository.Familiar())
		return
	}
	x.sites = append(x.sites, s)
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
	if m, found := x.marker(s); x.written[s.Node] || found && !m.ignore || x.ignores(s) {
		return
	}
	x.refuseAt(s, component, fmt.Sprintf(format, args...))
}

func (x *sink) refuseAt(s span.Scalar, component, reason string) {
	x.refuseLine(s.Position(x.file).Line, component, reason)
}

func (x *sink) refuseLine(line int, component, reason string) {
	x.refusals = append(x.refusals, edit.Refusal{File: x.file, Line: line, Component: component, Reason: reason})
}

// note records information for the user.
func (x *sink) note(s span.Scalar, format string, args ...any) {
	x.notes = append(x.notes, Note{Position: s.Position(x.file), Text: fmt.Sprintf(format, args...)})
}
