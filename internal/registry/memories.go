package registry

import (
	"errors"
	"sync"
)

// maxMemories bounds what is remembered at once; a config file names the
// repositories, so their number must not be theirs to choose. One of an image with a
// few tags takes one or two KiB. What does not fit is written to the cache folder, and
// read from there again.
const maxMemories = 1 << 15

// Memories keep what was learnt from one Client to the next, so that answers can
// count for longer than one round of work.
type Memories struct {
	most int // memories at once

	mu    sync.Mutex
	round int // counts clients
	all   map[scope]*remembered
}

// remembered is a memory with the last client that used it.
type remembered struct {
	*memory
	round int
}

// NewMemories makes an empty one.
func NewMemories() *Memories { return &Memories{most: maxMemories, all: map[scope]*remembered{}} }

// restRounds is how many clients may come and go until a memory that none of them
// used is dropped. Two may be at work side by side.
const restRounds = 3

// begin makes room for the next client: what nobody uses any more is in the cache
// folder, if there is one.
func (m *Memories) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.round++
	for at, known := range m.all {
		if m.round-known.round > restRounds {
			_ = known.save() // a failure costs questions
			delete(m.all, at)
		}
	}
}

// of returns what is remembered of a scope.
func (m *Memories) of(at scope, options Options) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.all[at]; ok {
		known.round = m.round
		return known.memory
	}
	if dropped, full := dropOne(m.all, m.most); full {
		_ = dropped.save() // a failure costs questions
	}
	made := newMemory(options.CacheDir, at)
	made.told = options.Remembered
	m.all[at] = &remembered{memory: made, round: m.round}
	return made
}

// save writes what is new to the cache folder.
func (m *Memories) save() error {
	m.mu.Lock()
	all := make([]*remembered, 0, len(m.all))
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
