package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// site is a location in a file that sets the version of a component, in one
// scalar or in two.
type site struct {
	shape    edit.Shape
	key      string // the last key on its path
	followed Followed
	tag      *part // nil if the file has no scalar for it
	digest   *part // nil if the file has none, or if the tag's scalar contains it too
	// room is the mapping in which keys for a missing tag or digest may be
	// added and whole lines removed. If nil, the keys are not changed.
	room *room
}

// room is a mapping whose keys the updater may add and remove.
type room struct {
	stream    *stream
	mapping   *yaml.Node
	tagKey    string
	digestKey string
}

// part is one scalar and how it spells its share of a version.
type part struct {
	scalar scalar
	spells spelling
	// before and after surround the share in the value: an option name, a
	// scheme, or the rest of a URL.
	before, after string
	name          string // with spellsReference: the repository as written
	template      string // with spellsTemplate
	// create is the key to add to the mapping after the scalar. If empty, the
	// part is the scalar itself.
	create  string
	mapping *yaml.Node
}

// spelling is how a scalar contains a version, or half of one.
type spelling string

// The spellings.
const (
	spellsReference spelling = "reference"    // name[:tag][@digest]
	spellsTag       spelling = "tag"          // tag[@digest]
	spellsDigest    spelling = "digest"       // algorithm:hex
	spellsHex       spelling = "hex"          // the digest without its algorithm
	spellsChart     spelling = "chart"        // a chart version, '+' where the tag has '_'
	spellsLocked    spelling = "locked chart" // a chart version that only Helm can change
	spellsVersion   spelling = "version"      // the version that the policy compares
	spellsRevision  spelling = "revision"     // the commit that the image was built from
	spellsTemplate  spelling = "template"     // a template from the configuration
)

// share returns the text of the value between before and after.
func (p *part) share() string {
	value := p.scalar.value()
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
	share := p.share()
	switch p.spells {
	case spellsReference:
		return cutVersion(strings.TrimPrefix(share, p.name))
	case spellsTag:
		tag, digest, _ = strings.Cut(share, "@")
		return tag, digest
	case spellsDigest:
		return "", share
	case spellsHex:
		if share == "" {
			return "", ""
		}
		return "", "sha256:" + share
	case spellsChart, spellsLocked:
		return strings.ReplaceAll(share, "+", "_"), ""
	case spellsTemplate:
		return p.readTemplate(share)
	case spellsRevision, spellsVersion:
		return "", ""
	default:
		return share, ""
	}
}

// readTemplate returns the current tag and digest of a configured location, or
// nothing if its key does not exist yet.
func (p *part) readTemplate(share string) (tag, digest string) {
	if p.create != "" {
		return "", ""
	}
	return readTemplate(p.template, share)
}

// cutVersion splits :tag@digest.
func cutVersion(s string) (tag, digest string) {
	tag, digest, _ = strings.Cut(s, "@")
	return strings.TrimPrefix(tag, ":"), digest
}

// present returns the current tag and digest of the site.
func (s *site) present() (tag, digest string) {
	tag, digest = s.tag.read()
	if _, own := s.digest.read(); own != "" {
		digest = own
	}
	return tag, digest
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

// newReference returns the site of a scalar that is a whole reference.
func newReference(shape edit.Shape, s scalar, followed Followed, ref image.Reference, before, after string) site {
	return site{shape: shape, followed: followed, tag: &part{
		scalar: s, spells: spellsReference, before: before, after: after, name: ref.Name,
	}}
}

// digestPart returns the part for a scalar that contains a digest, with or
// without its algorithm.
func digestPart(s scalar) *part {
	if value := s.value(); len(value) == 64 && !strings.Contains(value, ":") {
		return &part{scalar: s, spells: spellsHex}
	}
	return &part{scalar: s, spells: spellsDigest}
}
