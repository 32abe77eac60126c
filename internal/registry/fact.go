package registry

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"promoter/internal/image"
)

// metadata is what a digest says about itself. It never changes, because the digest
// is the hash of what says it.
type metadata struct {
	Created  time.Time `json:"created,omitzero"` // as the publisher says, also 1970
	Revision string    `json:"revision,omitempty"`
	Source   string    `json:"source,omitempty"`
	Version  string    `json:"version,omitempty"`
	Platform string    `json:"platform,omitempty"` // of one image: os/arch[/variant]
	// Children are the images of an index.
	Children []child `json:"children,omitempty"`
	// Opaque says why the manifest tells nothing, for example its format.
	Opaque string `json:"opaque,omitempty"`
}

// child is one image of an index.
type child struct {
	Digest   string `json:"digest"`
	Platform string `json:"platform"`
}

// Bounds of what a publisher may say. Many facts are remembered, so each must be
// small; the images of most languages are for less than twenty platforms.
const (
	maxText     = 512
	maxPlatform = 64
	maxChildren = 100
)

// valid checks a fact that was read from the cache folder.
func (f metadata) valid() bool {
	texts := []string{f.Revision, f.Source, f.Version, f.Platform, f.Opaque}
	for _, c := range f.Children {
		texts = append(texts, c.Platform)
		if !image.ValidDigest(c.Digest) || len(c.Platform) > maxPlatform {
			return false
		}
	}
	return len(f.Children) <= maxChildren && !slices.ContainsFunc(texts, func(s string) bool { return s != clean(s) })
}

// metadataSize is what a fact takes in memory without its texts and children, in
// bytes; childSize is what a child takes without its platform.
const (
	metadataSize  = 256
	childSize = 128
)

// size is about what the fact takes in memory, in bytes.
func (f metadata) size() int {
	total := metadataSize + len(f.Revision) + len(f.Source) + len(f.Version) + len(f.Platform) + len(f.Opaque)
	for _, c := range f.Children {
		total += childSize + len(c.Platform)
	}
	return total
}

// clean drops a text that is too long or holds anything but printable
// characters: it comes from whoever built the image and is shown to people.
func clean(s string) string {
	if len(s) > maxText || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return s
}

// The annotations of the image specification, also used as labels.
const (
	keyCreated  = "org.opencontainers.image.created"
	keyRevision = "org.opencontainers.image.revision"
	keySource   = "org.opencontainers.image.source"
	keyVersion  = "org.opencontainers.image.version"
)

// fromAnnotations reads annotations or labels.
func fromAnnotations(from map[string]string) metadata {
	created, err := time.Parse(time.RFC3339, from[keyCreated])
	if err != nil {
		created = time.Time{}
	}
	return metadata{
		Created: validTime(created), Revision: clean(from[keyRevision]),
		Source: clean(from[keySource]), Version: clean(from[keyVersion]),
	}
}

// validTime is a time in UTC; nothing for one outside the years that can be written
// (RFC 3339), which a time zone can move it to.
func validTime(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// fillFrom fills what f does not say from g. A created time that tells nothing counts
// as not said, but is kept where there is no better one.
func (f metadata) fillFrom(g metadata) metadata {
	if !image.KnownCreated(f.Created) && (image.KnownCreated(g.Created) || f.Created.IsZero()) {
		f.Created = g.Created
	}
	f.Revision = first(f.Revision, g.Revision)
	f.Source = first(f.Source, g.Source)
	f.Version = first(f.Version, g.Version)
	f.Platform = first(f.Platform, g.Platform)
	return f
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// platforms lists what the digest runs on; nothing when it does not say.
func (f metadata) platforms() []string {
	var all []string
	for _, c := range f.Children {
		all = append(all, c.Platform)
	}
	if f.Platform != "" {
		all = append(all, f.Platform)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
