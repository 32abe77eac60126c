package registry

import (
	"errors"
	"sync"
)

// maxCacheEntries bounds what is remembered at once; a config file names the
// repositories, so their number must not be theirs to choose. One of an image with a
// few tags takes one or two KiB. What does not fit is written to the cache folder, and
// read from there again.
const maxCacheEntries = 1 << 15

// Cache keep what was learnt from one Client to the next, so that answers can
// count for longer than one round of work.
type Cache struct {
	most int // memories at once

	mu    sync.Mutex
	round int // counts clients
	all   map[scope]*usedEntry
}

// usedEntry is a memory with the last client that used it.
type usedEntry struct {
	*cacheEntry
	round int
}

// NewCache makes an empty one.
func NewCache() *Cache { return &Cache{most: maxCacheEntries, all: map[scope]*usedEntry{}} }

// idleClients is how many clients may come and go until a memory that none of them
// used is dropped. Two may be at work side by side.
const idleClients = 3

// begin makes room for the next client: what nobody uses any more is in the cache
// folder, if there is one.
func (m *Cache) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.round++
	for at, known := range m.all {
		if m.round-known.round > idleClients {
			_ = known.save() // a failure costs questions
			delete(m.all, at)
		}
	}
}

// of returns what is remembered of a scope.
func (m *Cache) of(at scope, options Options) *cacheEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.all[at]; ok {
		known.round = m.round
		return known.cacheEntry
	}
	if dropped, full := dropOne(m.all, m.most); full {
		_ = dropped.save() // a failure costs questions
	}
	made := newCacheEntry(options.CacheDir, at)
	made.observe = options.ObserveCache
	m.all[at] = &usedEntry{cacheEntry: made, round: m.round}
	return made
}

// save writes what is new to the cache folder.
func (m *Cache) save() error {
	m.mu.Lock()
	all := make([]*usedEntry, 0, len(m.all))
	for _, known := range m.all {
		all = append(all, known)
	}
	m.mu.Unlock()
	var failed []error
	for _, known := range all {
		failed = append(failed, known.save())
	}
	return errors.Join(failed...)
}
