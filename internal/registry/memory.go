package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"promoter/internal/atomicfile"
	"promoter/internal/image"
)

// memory is what is known about one repository under one credential: the facts
// of digests, which never change; the digest that each tag had last, which only
// orders what is asked next, and whose turn that is; how far a long tag list
// was read; and what was answered for which moment.
type memory struct {
	file string // empty: not kept on disk
	at   scope
	told func(known bool)

	once sync.Once
	mu   sync.Mutex
	kept kept
	size int // of all facts, see fact.size
	// changed counts changes, saved what of them is on disk.
	changed, saved int

	saving sync.Mutex // one writes at a time
}

// kept is the content of a cache file.
type kept struct {
	Version    int               `json:"version"`
	Credential string            `json:"credential"` // see identify; no secret
	Repository string            `json:"repository"`
	Facts      map[string]fact   `json:"facts,omitempty"` // by digest
	Tags       map[string]string `json:"tags,omitempty"`  // tag to digest, only a hint
	Sweep      sweep             `json:"sweep,omitzero"`
	Turn       uint16            `json:"turn,omitempty"` // see target.again
	answers
}

// keptVersion changes when the meaning of a cache file does; files of another
// version are asked for again.
const keptVersion = 1

// Bounds of one memory.
const (
	maxFactSize = 64 << 20 // bytes of all facts: those of 100,000 images and more
	maxPointed  = 100_000
	maxKeptFile = 256 << 20
)

func newMemory(folder string, at scope) *memory {
	m := &memory{at: at, told: func(bool) {}}
	if folder != "" {
		sum := sha256.Sum256([]byte(at.credential + "\x00" + at.repository.String()))
		m.file = filepath.Join(folder, "registry", hex.EncodeToString(sum[:16])+".json")
	}
	return m
}

// load reads the cache file once. One that is missing, broken, or about another
// credential or repository is as good as none.
func (m *memory) load() {
	m.once.Do(func() {
		m.kept = readKept(m.file, m.at)
		for _, f := range m.kept.Facts {
			m.size += f.size()
		}
	})
}

func readKept(file string, at scope) kept {
	empty := kept{
		Version: keptVersion, Credential: at.credential, Repository: at.repository.String(),
		Facts: map[string]fact{}, Tags: map[string]string{}, answers: answers{Heads: map[string]head{}},
	}
	if file == "" {
		return empty
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxKeptFile {
		return empty
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return empty
	}
	return parseKept(data, empty)
}

// parseKept takes what a cache file says, entry by entry, or nothing.
func parseKept(data []byte, empty kept) kept {
	var read kept
	if err := json.Unmarshal(data, &read); err != nil {
		return empty
	}
	if read.Version != empty.Version || read.Credential != empty.Credential || read.Repository != empty.Repository {
		return empty
	}
	for digest, f := range read.Facts {
		if image.ValidDigest(digest) && f.valid() {
			empty.Facts[digest] = f
		}
	}
	for tag, digest := range read.Tags {
		if image.ValidTag(tag) && image.ValidDigest(digest) {
			empty.Tags[tag] = digest
		}
	}
	if read.Sweep.valid() {
		empty.Sweep = read.Sweep
	}
	empty.Turn, empty.answers = read.Turn, read.answers.checked()
	return empty
}

// save writes the cache file if anything is new.
func (m *memory) save() error {
	if m.file == "" {
		return nil
	}
	m.load()
	m.saving.Lock()
	defer m.saving.Unlock()
	m.mu.Lock()
	changed := m.changed
	if changed == m.saved {
		m.mu.Unlock()
		return nil
	}
	data, err := json.Marshal(m.kept)
	m.mu.Unlock()
	if err == nil {
		err = atomicfile.Replace(m.file, data)
	}
	if err != nil {
		return fmt.Errorf("write the registry cache: %w", err)
	}
	m.mu.Lock()
	m.saved = changed
	m.mu.Unlock()
	return nil
}

func (m *memory) fact(digest string) (fact, bool) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.kept.Facts[digest]
	if ok {
		m.told(true)
	}
	return f, ok
}

func (m *memory) learn(digest string, f fact) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.kept.Facts[digest]; ok {
		m.size -= known.size()
	}
	m.kept.Facts[digest] = f
	m.size += f.size()
	m.changed++
	for old, known := range m.kept.Facts {
		if m.size <= maxFactSize {
			break
		}
		if old != digest { // any one: it is asked for again
			delete(m.kept.Facts, old)
			m.size -= known.size()
		}
	}
}

// pointed returns the digest that a tag had when it was last asked for.
func (m *memory) pointed(tag string) (string, bool) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	digest, ok := m.kept.Tags[tag]
	return digest, ok
}

// point remembers what a tag has; an empty digest forgets it.
func (m *memory) point(tag, digest string) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept.Tags[tag] == digest {
		return
	}
	if digest == "" {
		delete(m.kept.Tags, tag)
	} else if len(m.kept.Tags) < maxPointed {
		m.kept.Tags[tag] = digest
	}
	m.changed++
}

// turn counts the slices of tags that were asked again: one for each moment.
func (m *memory) turn(when window) int {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !when.holds(m.kept.Turned) {
		m.kept.Turn, m.kept.Turned = m.kept.Turn+1, when.from
		m.changed++
	}
	return int(m.kept.Turn)
}

func (m *memory) sweep() sweep {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept.Sweep
}

func (m *memory) setSweep(s sweep) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept.Sweep = s
	m.changed++
}
