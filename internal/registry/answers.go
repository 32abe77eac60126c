package registry

import (
	"maps"
	"slices"
	"time"

	"promoter/internal/image"
)

// cachedResponses are what a registry answered that may change, each with the moment for
// which it was asked, see Request.AsOf.
type cachedResponses struct {
	Tags *cachedTags        `json:"listed,omitempty"`
	Digests  map[string]cachedDigest `json:"heads,omitempty"` // by tag
	SliceAsOf time.Time       `json:"turned,omitzero"` // the moment of kept.Turn
}

// cachedTags is a whole list.
type cachedTags struct {
	Tags []string  `json:"tags"`
	AsOf time.Time `json:"asOf"`
}

// cachedDigest is the digest of a tag.
type cachedDigest struct {
	Digest string    `json:"digest"`
	AsOf   time.Time `json:"asOf"`
}

// validity is for which moments an answer may be to count. Moments are given out by
// other clocks too. One that lies further ahead than clocks differ was given out by
// a clock that was wrong, and its answer would count for too long.
type validity struct{ from, to time.Time }

// maxClockSkew is how far the clocks of replicas and databases may be apart.
const maxClockSkew = time.Hour

// validity of the zero moment holds none.
func (v *View) validity(asOf time.Time) validity {
	if asOf.IsZero() {
		return validity{}
	}
	return validity{from: asOf, to: v.batch.client.options.Now().Add(maxClockSkew)}
}

func (w validity) holds(asOf time.Time) bool { return !asOf.Before(w.from) && asOf.Before(w.to) }

// checked leaves out what no answer is.
func (a cachedResponses) checked() cachedResponses {
	if a.Tags != nil && (len(a.Tags.Tags) > maxTags || slices.ContainsFunc(a.Tags.Tags, invalidTag)) {
		a.Tags = nil
	}
	if a.Digests == nil {
		a.Digests = map[string]cachedDigest{}
	}
	maps.DeleteFunc(a.Digests, func(tag string, h cachedDigest) bool { return !image.ValidTag(tag) || !image.ValidDigest(h.Digest) })
	return a
}

// tags returns the tags that were answered for a moment.
func (m *cacheEntry) tags(when validity) (listing, bool) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.content.Tags
	if known == nil || !when.holds(known.AsOf) {
		return listing{}, false
	}
	return listing{tags: known.Tags, whole: true}, true
}

// setTags keeps an answer for a moment, if it has one. The tags are not changed
// any more.
func (m *cacheEntry) setTags(tags []string, asOf time.Time) {
	if asOf.IsZero() {
		return
	}
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.content.Tags; known != nil && known.AsOf.After(asOf) {
		return // somebody who asked later was faster
	}
	m.content.Tags = &cachedTags{Tags: tags, AsOf: asOf}
	m.changed++
}

// digest returns the digest that was answered for a moment.
func (m *cacheEntry) digest(tag string, when validity) (string, bool) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.content.Digests[tag]
	return known.Digest, ok && when.holds(known.AsOf)
}

// setDigest keeps an answer for a moment, if it has one. The oldest ones go when there
// are too many.
func (m *cacheEntry) setDigest(tag, digest string, asOf time.Time) {
	if asOf.IsZero() || image.ValidDigest(tag) {
		return
	}
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.content.Digests[tag].AsOf.After(asOf) {
		return
	}
	if len(m.content.Digests) >= maxDigests {
		maps.DeleteFunc(m.content.Digests, func(_ string, h cachedDigest) bool { return h.AsOf.Before(asOf) })
	}
	if len(m.content.Digests) < maxDigests {
		m.content.Digests[tag] = cachedDigest{Digest: digest, AsOf: asOf}
		m.changed++
	}
}

// maxDigests is how many tags of a repository have their digests kept: more than a
// pass asks for.
const maxDigests = 2000
