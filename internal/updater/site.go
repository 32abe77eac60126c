package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// site is one place that says which version of a component runs. The version
// stands on one scalar or on two.
type site struct {
	shape    edit.Shape
	key      string // the last of the keys that lead to it
	followed Followed
	tag      *part // nil: the file has no scalar for it
	digest   *part // nil: the file has none, or the tag's scalar holds it too
	// room is the mapping of which keys for a missing tag or digest may be made
	// and whole lines removed. Nil: the keys stay as they are.
	room *room
}

// room is a mapping whose keys the updater knows well enough to add and remove
// them.
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
	// before and after are what the value has around its share: an option's
	// name, a scheme, the rest of a URL.
	before, after string
	name          string // with spellsReference: the repository as it is written
	template      string // with spellsTemplate
	// create is the key that the mapping shall have behind the scalar; empty: the
	// scalar itself is meant.
	create  string
	mapping *yaml.Node
}

// spelling is a way to write a version, or half of one, in a scalar.
type spelling string

// The spellings.
const (
	spellsReference spelling = "reference"    // name[:tag][@digest]
	spellsTag       spelling = "tag"          // tag[@digest]
	spellsDigest    spelling = "digest"       // algorithm:hex
	spellsHex       spelling = "hex"          // the digest without its algorithm
	spellsChart     spelling = "chart"        // a chart's version, '+' where the tag has '_'
	spellsLocked    spelling = "locked chart" // a chart's version that only Helm can change
	spellsVersion   spelling = "version"      // the version that the policy compares
	spellsRevision  spelling = "revision"     // the commit that the image was built from
	spellsTemplate  spelling = "template"     // what the configuration says
)

// share is what the value holds between before and after.
func (p *part) share() string {
	value := p.scalar.value()
	if len(value) < len(p.before)+len(p.after) {
		return ""
	}
	return value[len(p.before) : len(value)-len(p.after)]
}

// read returns the tag and digest that the part states now.
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

// readTemplate returns what a configured place states; nothing while its key is
// still to be made.
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

// present returns what the site states now.
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

// newReference makes the site of a scalar that holds a whole reference.
func newReference(shape edit.Shape, s scalar, followed Followed, ref image.Reference, before, after string) site {
	return site{shape: shape, followed: followed, tag: &part{
		scalar: s, spells: spellsReference, before: before, after: after, name: ref.Name,
	}}
}

// digestPart makes the part of a scalar that holds a digest, with or without its
// algorithm.
func digestPart(s scalar) *part {
	if value := s.value(); len(value) == 64 && !strings.Contains(value, ":") {
		return &part{scalar: s, spells: spellsHex}
	}
	return &part{scalar: s, spells: spellsDigest}
}
