package registry

import (
	"maps"
	"slices"
	"time"

	"promoter/internal/image"
)

// answers are what a registry answered that may change, each with the moment for
// which it was asked, see Request.AsOf.
type answers struct {
	Listed *tagList        `json:"listed,omitempty"`
	Heads  map[string]head `json:"heads,omitempty"` // by tag
	Turned time.Time       `json:"turned,omitzero"` // the moment of kept.Turn
}

// tagList is a whole list.
type tagList struct {
	Tags []string  `json:"tags"`
	AsOf time.Time `json:"asOf"`
}

// head is the digest of a tag.
type head struct {
	Digest string    `json:"digest"`
	AsOf   time.Time `json:"asOf"`
}

// window is for which moments an answer may be to count. Moments are given out by
// other clocks too. One that lies further ahead than clocks differ was given out by
// a clock that was wrong, and its answer would count for too long.
type window struct{ from, to time.Time }

// clocksDiffer is how far the clocks of replicas and databases may be apart.
const clocksDiffer = time.Hour

// window of the zero moment holds none.
func (v *View) window(asOf time.Time) window {
	if asOf.IsZero() {
		return window{}
	}
	return window{from: asOf, to: v.pass.client.options.Now().Add(clocksDiffer)}
}

func (w window) holds(asOf time.Time) bool { return !asOf.Before(w.from) && asOf.Before(w.to) }

// checked leaves out what no answer is.
func (a answers) checked() answers {
	if a.Listed != nil && (len(a.Listed.Tags) > maxSweep || slices.ContainsFunc(a.Listed.Tags, invalidTag)) {
		a.Listed = nil
	}
	if a.Heads == nil {
		a.Heads = map[string]head{}
	}
	maps.DeleteFunc(a.Heads, func(tag string, h head) bool { return !image.ValidTag(tag) || !image.ValidDigest(h.Digest) })
	return a
}

// listed returns the tags that were answered for a moment.
func (m *memory) listed(when window) (listing, bool) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.kept.Listed
	if known == nil || !when.holds(known.AsOf) {
		return listing{}, false
	}
	return listing{tags: known.Tags, whole: true}, true
}

// setListed keeps an answer for a moment, if it has one. The tags are not changed
// any more.
func (m *memory) setListed(tags []string, asOf time.Time) {
	if asOf.IsZero() {
		return
	}
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.kept.Listed; known != nil && known.AsOf.After(asOf) {
		return // somebody who asked later was faster
	}
	m.kept.Listed = &tagList{Tags: tags, AsOf: asOf}
	m.changed++
}

// head returns the digest that was answered for a moment.
func (m *memory) head(tag string, when window) (string, bool) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.kept.Heads[tag]
	return known.Digest, ok && when.holds(known.AsOf)
}

// setHead keeps an answer for a moment, if it has one. The oldest ones go when there
// are too many.
func (m *memory) setHead(tag, digest string, asOf time.Time) {
	if asOf.IsZero() || image.ValidDigest(tag) {
		return
	}
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept.Heads[tag].AsOf.After(asOf) {
		return
	}
	if len(m.kept.Heads) >= maxHeads {
		maps.DeleteFunc(m.kept.Heads, func(_ string, h head) bool { return h.AsOf.Before(asOf) })
	}
	if len(m.kept.Heads) < maxHeads {
		m.kept.Heads[tag] = head{Digest: digest, AsOf: asOf}
		m.changed++
	}
}

// maxHeads is how many tags of a repository have their digests kept: more than a
// pass asks for.
const maxHeads = 2000
