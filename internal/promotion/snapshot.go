package promotion

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"promoter/internal/image"
)

// Pinned is one component's place in a snapshot: which repository, and which
// version of it.
type Pinned struct {
	Repository image.Repository
	Version    image.Version
}

// String returns repository:tag@digest; a part that is not known is left out,
// its separator is not.
func (p Pinned) String() string {
	return p.Repository.String() + ":" + p.Version.Tag + "@" + p.Version.Digest
}

// Snapshot is an immutable set component -> version of one application.
type Snapshot map[string]Pinned

// ID returns the label of the snapshot: "v1:" and the SHA-256, in lower-case
// hex, of its sorted lines component=repository:tag@digest, each ended by a
// line feed. It is a label and not the measure of equality: see SameRollout.
// The format must not change.
func (s Snapshot) ID() string {
	hash := sha256.New()
	for _, component := range s.Components() {
		hash.Write([]byte(component + "=" + s[component].String() + "\n"))
	}
	return "v1:" + hex.EncodeToString(hash.Sum(nil))
}

// With returns the snapshot after the moves.
func (s Snapshot) With(moves []Move) Snapshot {
	after := maps.Clone(s)
	for _, move := range moves {
		after[move.Component] = Pinned{Repository: s[move.Component].Repository, Version: move.To}
	}
	return after
}

// Components returns the names of the components, sorted.
func (s Snapshot) Components() []string {
	return slices.Sorted(maps.Keys(s))
}

// String lists the components with their versions, for people.
func (s Snapshot) String() string {
	parts := make([]string, 0, len(s))
	for _, component := range s.Components() {
		parts = append(parts, component+" "+Label(s[component].Version))
	}
	return strings.Join(parts, ", ")
}

// SameRollout says whether two versions put the same bits into a cluster. Where
// both digests are known they alone decide, because a new tag on the same digest
// is a new label and no new roll-out; otherwise the tags are all there is.
func SameRollout(a, b image.Version) bool {
	if a.Digest != "" && b.Digest != "" {
		return a.Digest == b.Digest
	}
	return a.Tag != "" && a.Tag == b.Tag
}

// Label returns the shortest words that tell a person which version is meant:
// the tag, with the first twelve digits of the digest where there is no tag.
func Label(v image.Version) string {
	if v.Tag != "" {
		return v.Tag
	}
	return ShortDigest(v.Digest)
}

// shortHex is how many hex digits of a digest people are shown.
const shortHex = 12

// ShortDigest cuts a digest down to what a person compares by eye.
func ShortDigest(digest string) string {
	algorithm, hex, found := strings.Cut(digest, ":")
	if !found || len(hex) <= shortHex {
		return digest
	}
	return algorithm + ":" + hex[:shortHex]
}
