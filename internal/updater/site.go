package updater

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/span"
)

// site is a location in a file that sets the version of a component, in one
// scalar or in two.
type site struct {
	shape    edit.Shape
	key      string // the last key on its path
	followed Followed
	tag      *part // nil if the file has no scalar for it
	digest   *part // nil if the file has none, or if the tag's span.Scalar contains it too
	// editable is the mapping in which keys for a missing tag or digest may be
	// added and whole lines removed. If nil, the keys are not changed.
	editable *editable
}

// editable is a mapping whose keys the updater may add and remove.
type editable struct {
	mapping   *yaml.Node
	tagKey    string
	digestKey string
}

// part is one scalar and the format of the part of a version that it contains.
type part struct {
	scalar span.Scalar
	format format
	// before and after surround that part in the value: an option name, a
	// scheme, or the rest of a URL.
	before, after string
	name          string // with formatReference: the repository as written
	template      string // with formatTemplate
	// create is the key to add to the mapping after the scalar. If empty, the
	// part is the scalar itself.
	create  string
	mapping *yaml.Node
}

// format is how a scalar contains a version, or a part of one.
type format string

// The formats.
const (
	formatReference format = "reference"    // name[:tag][@digest]
	formatTag       format = "tag"          // tag[@digest]
	formatDigest    format = "digest"       // algorithm:hex
	formatHex       format = "hex"          // the digest without its algorithm
	formatChart     format = "chart"        // a chart version, '+' where the tag has '_'
	formatLocked    format = "locked chart" // a chart version that only Helm can change
	formatVersion   format = "version"      // the version that the policy compares
	formatRevision  format = "revision"     // the commit that the image was built from
	formatTemplate  format = "template"     // a template from the configuration
)

// text returns the text of the value between before and after.
func (p *part) text() string {
	value := p.scalar.Value()
	if len(value) < len(p.before)+len(p.after) {
		return ""
	}
	return value[len(p.before) : len(value)-len(p.after)]
}

// read returns the current tag and digest of the part.
func (p *part) read() (tag, digest string) {
	if p == nil {
		return "", ""
	}
	text := p.text()
	switch p.format {
	case formatReference:
		tag, digest, _ = strings.Cut(strings.TrimPrefix(text, p.name), "@")
		return strings.TrimPrefix(tag, ":"), digest
	case formatTag:
		tag, digest, _ = strings.Cut(text, "@")
		return tag, digest
	case formatDigest:
		return "", text
	case formatHex:
		if text == "" {
			return "", ""
		}
		return "", "sha256:" + text
	case formatChart, formatLocked:
		return strings.ReplaceAll(text, "+", "_"), ""
	case formatTemplate:
		if p.create != "" {
			return "", "" // the key does not exist yet
		}
		return readTemplate(p.template, text)
	default:
		return "", ""
	}
}

// isDigest reports whether the part contains only a digest.
func (p *part) isDigest() bool { return p.format == formatDigest || p.format == formatHex }

// current returns the current tag and digest of the site.
func (s *site) current() (tag, digest string) {
	tag, digest = s.tag.read()
	if _, own := s.digest.read(); own != "" {
		digest = own
	}
	return tag, digest
}

// version returns the current version of the site, without its location.
func (s *site) version() edit.Reference {
	tag, digest := s.current()
	return edit.Reference{Repository: s.followed.Repository, Tag: tag, Digest: digest}
}

// parts returns the scalars of the site, the tag's first.
func (s *site) parts() []*part {
	parts := make([]*part, 0, 2)
	for _, p := range []*part{s.tag, s.digest} {
		if p != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

// first returns the first of the parts.
func (s *site) first() *part {
	if s.tag != nil {
		return s.tag
	}
	return s.digest
}

// newReference returns the site of a scalar that is a whole reference.
func newReference(shape edit.Shape, s span.Scalar, followed Followed, ref image.Reference, before, after string) site {
	return site{shape: shape, followed: followed, tag: &part{
		scalar: s, format: formatReference, before: before, after: after, name: ref.Name,
	}}
}

// digestPart returns the part for a scalar that contains a digest, with or
// without its algorithm.
func digestPart(s span.Scalar) *part {
	return &part{scalar: s, format: digestFormat(s.Value())}
}

func digestFormat(text string) format {
	if len(text) == 64 && !strings.Contains(text, ":") {
		return formatHex
	}
	return formatDigest
}

// problem returns why a scalar cannot be the tag or digest that its key
// implies, or "" if it can. An empty value is valid: the key exists without a
// version.
func (p *part) problem() string {
	text := p.text()
	tag, digest := p.read()
	switch {
	case text == "":
		return ""
	case isVariable(text):
		return "the version is a variable (" + shorten(text) + "); change it where the variable is set"
	case p.format == formatVersion || p.format == formatRevision:
		return ""
	case tag == "" && digest == "", tag != "" && !image.ValidTag(tag), digest != "" && !image.ValidDigest(digest):
		return fmt.Sprintf("the value %q is not a tag or digest", shorten(text))
	default:
		return ""
	}
}

// reference returns the current reference of a site.
func (s *site) reference(file string) edit.Reference {
	tag, digest := s.current()
	return edit.Reference{
		Component:  s.followed.Component,
		Shape:      s.shape,
		Key:        s.key,
		Position:   s.first().scalar.Position(file),
		Repository: s.followed.Repository,
		// Clone, because substrings would keep the whole file in memory.
		Tag:    strings.Clone(tag),
		Digest: strings.Clone(digest),
	}
}
