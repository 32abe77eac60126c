package promotion

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"promoter/internal/identity"
	"promoter/internal/image"
)

// Snapshot is an immutable set of components with their versions, of one
// application.
type Snapshot map[string]Pinned

// Pinned is one component in a snapshot.
type Pinned struct {
	Repository image.Repository
	Version    image.Version
}

// String returns repository:tag@digest; an unknown part is omitted, its separator
// is not.
func (p Pinned) String() string {
	return p.Repository.String() + ":" + p.Version.Tag + "@" + p.Version.Digest
}

// snapshotScheme is the prefix of every snapshot id.
const snapshotScheme = "v1:"

// ID returns the label of the snapshot: "v1:" and the SHA-256, in lower-case
// hex, of its sorted lines component=repository:tag@digest, each ended by a
// line feed. It is a label and not the measure of equality: see SameRollout.
// The format must not change.
func (s Snapshot) ID() string {
	hash := sha256.New()
	for _, component := range s.Components() {
		hash.Write([]byte(component + "=" + s[component].String() + "\n"))
	}
	return snapshotScheme + hex.EncodeToString(hash.Sum(nil))
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

// String lists the components with their versions.
func (s Snapshot) String() string {
	parts := make([]string, 0, len(s))
	for _, component := range s.Components() {
		parts = append(parts, component+" "+Label(s[component].Version))
	}
	return strings.Join(parts, ", ")
}

// SameRollout reports whether two versions put the same bits into a cluster. If
// both digests are known, they alone decide, because a new tag on the same digest
// is a new label and no new rollout.
func SameRollout(a, b image.Version) bool {
	if a.Digest != "" && b.Digest != "" {
		return a.Digest == b.Digest
	}
	return a.Tag != "" && a.Tag == b.Tag
}

// Label returns the short name of a version: the tag, or the short digest if there
// is no tag.
func Label(v image.Version) string {
	if v.Tag != "" {
		return v.Tag
	}
	return ShortDigest(v.Digest)
}

// ShortHex is how many hex digits of a digest are shown.
const ShortHex = 12

// ShortDigest shortens a digest for display.
func ShortDigest(digest string) string {
	algorithm, hex, found := strings.Cut(digest, ":")
	if !found || len(hex) <= ShortHex {
		return digest
	}
	return algorithm + ":" + hex[:ShortHex]
}

// ID identifies one promotion, which is one attempt to bring a snapshot into a
// target: REPOSITORY KEY/ENVIRONMENT/APPLICATION/SNAPSHOT/ATTEMPT with the first
// twelve digits of the snapshot's id. Attempts count from 1: a snapshot that is
// reverted and proposed again is another promotion. The format must not change.
func ID(repository identity.RepositoryKey, target Target, snapshotID string, attempt int) string {
	digits := strings.TrimPrefix(snapshotID, snapshotScheme)
	return fmt.Sprintf("%s/%s/%s/%s/%d", repository, target.Environment, target.Application,
		digits[:min(len(digits), ShortHex)], attempt)
}

// IsNone reports whether there is no version at all.
func IsNone(v image.Version) bool { return v.Tag == "" && v.Digest == "" }
