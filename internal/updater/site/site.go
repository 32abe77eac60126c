// Package site is a location in a file that sets the version of a component: what it contains
// now, and which edits set another version.
//
// The shapes make sites of the scalars that they find. A site does not know where its scalars
// come from, only the format in which each contains a version, or a part of one. Plan
// determines the edits for a version, or the reason why there are none.
package site

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/span"
)

// Followed is a component as followed in one file: its name, its artifact, and
// how its version is written.
type Followed struct {
	Component  string
	Artifact   image.Artifact
	Repository image.Repository
	Mirror     image.Repository // that the file names, if it is a mirror of Repository
	Pin        image.Pin        // empty: keep
	Moving     bool             // the tag may move, so a digest is always written
	TagStays   bool             // a wanted version without a tag is another build of the tag in the file
	Source     string           // URL of the source repository; empty if unknown
	// Numeric reports that the tags are plain numbers. If it is false,
	// redis:6379 is an address and is not changed, except under a key that
	// contains "image".
	Numeric bool
	// AnyWord reports that a pattern without a registry selected the repository.
	// A word such as system:masters is then no reference unless its key, its
	// registry, or its digest shows that it is an image.
	AnyWord bool
	Policy  *image.Policy // selects the versions; nil: not known
	// Others are other components of the same repository, such as the chart beside an image.
	Others []Followed
}

// Of returns the component of the repository that a location of a kind with a tag sets the version
// of: an image component never moves a chart, nor the reverse, and each tag belongs to the
// component that selects it. It returns false if there is none.
func (f Followed) Of(kind image.Artifact, tag string) (Followed, bool) {
	var fitting []Followed
	var policies []*image.Policy
	for _, one := range append([]Followed{f}, f.Others...) {
		if one.fits(kind) {
			fitting, policies = append(fitting, one), append(policies, one.Policy)
		}
	}
	switch {
	case len(fitting) == 0:
		return f, false
	case len(fitting) == 1 || tag == "" || slices.Contains(policies, nil):
		return fitting[0], true
	default:
		return fitting[image.Nearest(tag, policies)], true
	}
}

// fits reports whether a location of a kind can be of the component. An artifact may be anything.
func (f Followed) fits(kind image.Artifact) bool {
	switch kind {
	case image.ArtifactImage:
		return f.Artifact != image.ArtifactChart
	case image.ArtifactChart, image.ArtifactOther:
		return f.Artifact != image.ArtifactImage
	default:
		return true
	}
}

// Site is a location in a file that sets the version of a component, in one
// scalar or in two.
type Site struct {
	Shape    edit.Shape
	Key      string // the last key on its path
	Followed Followed
	// Kind is what the location can only be the version of: an image, a chart, or with
	// ArtifactOther anything but an image. Empty: it does not tell.
	Kind image.Artifact
	// Marked is set if a user named the component for the location: then it is of its line of versions,
	// whatever it has.
	Marked bool
	Tag    *Part // nil if the file has no scalar for it
	Digest *Part // nil if the file has none, or if the tag's scalar contains it too
	// Editable is the mapping in which keys for a missing tag or digest may be
	// added and whole lines removed. If nil, the keys are not changed.
	Editable *Editable
	// barred is why the site must not change; nil: it may.
	barred error
}

// Bar records why the site must not change. The first reason counts.
func (s *Site) Bar(why error) {
	if s.barred == nil {
		s.barred = why
	}
}

// Editable is a mapping whose keys the updater may add and remove.
type Editable struct {
	Mapping   *yaml.Node
	TagKey    string
	DigestKey string
}

// Part is one scalar and the format of the part of a version that it contains.
type Part struct {
	Scalar span.Scalar
	Format Format
	// Before and After surround that part in the value: an option name, a
	// scheme, or the rest of a URL.
	Before, After string
	Name          string // with FormatReference: the repository as written
	Template      string // with FormatTemplate
	// Create is the key to add to the mapping after the scalar. If empty, the
	// part is the scalar itself.
	Create  string
	Mapping *yaml.Node
}

// Format is how a scalar contains a version, or a part of one.
type Format string

// The formats.
const (
	FormatReference Format = "reference"    // name[:tag][@digest]
	FormatTag       Format = "tag"          // tag[@digest]
	formatDigest    Format = "digest"       // algorithm:hex
	formatHex       Format = "hex"          // the digest without its algorithm
	FormatChart     Format = "chart"        // a chart version, '+' where the tag has '_'
	FormatLocked    Format = "locked chart" // a chart version that only Helm can change
	FormatVersion   Format = "version"      // the version that the policy compares
	FormatRevision  Format = "revision"     // the commit that the image was built from
	FormatTemplate  Format = "template"     // a template from the configuration
)

// text returns the text of the value between Before and After.
func (p *Part) text() string {
	value := p.Scalar.Value()
	if len(value) < len(p.Before)+len(p.After) {
		return ""
	}
	return value[len(p.Before) : len(value)-len(p.After)]
}

// read returns the current tag and digest of the part.
func (p *Part) read() (tag, digest string) {
	if p == nil {
		return "", ""
	}
	text := p.text()
	switch p.Format {
	case FormatReference:
		tag, digest, _ = strings.Cut(strings.TrimPrefix(text, p.Name), "@")
		return strings.TrimPrefix(tag, ":"), digest
	case FormatTag:
		tag, digest, _ = strings.Cut(text, "@")
		return tag, digest
	case formatDigest:
		return "", text
	case formatHex:
		if text == "" {
			return "", ""
		}
		return "", "sha256:" + text
	case FormatChart, FormatLocked:
		return strings.ReplaceAll(text, "+", "_"), ""
	case FormatTemplate:
		if p.Create != "" {
			return "", "" // the key does not exist yet
		}
		read := edit.ReadTemplate(p.Template, text)
		return read.Tag, read.Digest
	default:
		return "", ""
	}
}

// template returns how the part makes a text of a version, if it does not contain the version itself.
func (p *Part) template() string {
	switch {
	case p == nil:
		return ""
	case p.Format == FormatVersion:
		return "{version}"
	case p.Format == FormatRevision:
		return "{revision}"
	default:
		return p.Template
	}
}

// IsDigest reports whether the part contains only a digest.
func (p *Part) IsDigest() bool { return p.Format == formatDigest || p.Format == formatHex }

// Current returns the current tag and digest of the site.
func (s *Site) Current() (tag, digest string) {
	tag, digest = s.Tag.read()
	if _, own := s.Digest.read(); own != "" {
		digest = own
	}
	return tag, digest
}

// Version returns the current version of the site, without its location.
func (s *Site) Version() edit.Reference {
	tag, digest := s.Current()
	return edit.Reference{Repository: s.Followed.Repository, Tag: tag, Digest: digest}
}

// Parts returns the scalars of the site, the tag's first.
func (s *Site) Parts() []*Part {
	parts := make([]*Part, 0, 2)
	for _, p := range []*Part{s.Tag, s.Digest} {
		if p != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

// First returns the first of the parts.
func (s *Site) First() *Part {
	if s.Tag != nil {
		return s.Tag
	}
	return s.Digest
}

// NewReference returns the site of a scalar that is a whole reference.
func NewReference(shape edit.Shape, s span.Scalar, followed Followed, ref image.Reference, before, after string) Site {
	return Site{Shape: shape, Followed: followed, Tag: &Part{
		Scalar: s, Format: FormatReference, Before: before, After: after, Name: ref.Name,
	}}
}

// HasDigest reports whether the part contains a digest.
func (p *Part) HasDigest() bool {
	_, digest := p.read()
	return digest != ""
}

// DigestPart returns the part for a scalar under a key that contains a digest, with or
// without its algorithm.
func DigestPart(s span.Scalar, key string) *Part {
	return &Part{Scalar: s, Format: DigestFormat(s.Value(), key)}
}

// DigestFormat returns the format of a digest, with or without its algorithm. Of an empty one, the key
// decides: charts that name it sha add the algorithm by themselves.
func DigestFormat(text, key string) Format {
	key = strings.ToLower(key)
	if text == "" && (strings.HasSuffix(key, "sha") || strings.HasSuffix(key, "sha256")) {
		return formatHex
	}
	if len(text) == 64 && !strings.Contains(text, ":") {
		return formatHex
	}
	return formatDigest
}

// Problem returns why a scalar cannot be the tag or digest that its key
// implies, or "" if it can. An empty value is valid: the key exists without a
// version.
func (p *Part) Problem() string {
	text := p.text()
	tag, digest := p.read()
	switch {
	case text == "":
		return ""
	case lex.IsVariable(text):
		return "the version is a variable (" + lex.Shorten(text) + "); change it where the variable is set"
	case p.Format == FormatVersion || p.Format == FormatRevision:
		return ""
	case tag == "" && digest == "", tag != "" && !image.ValidTag(tag), digest != "" && !image.ValidDigest(digest):
		return fmt.Sprintf("the value %q is not a tag or digest", lex.Shorten(text))
	default:
		return ""
	}
}

// Reference returns the current reference of a site, in a file that is signed or not.
func (s *Site) Reference(file string, signed bool) edit.Reference {
	tag, digest := s.Current()
	form, fixed := s.form(signed)
	template, text := s.Tag.template(), ""
	if template != "" && s.Tag.Create == "" {
		text = strings.Clone(s.Tag.text())
	}
	return edit.Reference{
		Template: template, Text: text,
		Component:  s.Followed.Component,
		Shape:      s.Shape,
		Key:        s.Key,
		Position:   s.First().Scalar.Position(file),
		Repository: s.Followed.Repository,
		Mirror:     s.Followed.Mirror,
		Marked:     s.Marked,
		// Clone, because substrings would keep the whole file in memory.
		Tag:    strings.Clone(tag),
		Digest: strings.Clone(digest),
		Form:   form,
		Fixed:  fixed,
	}
}
