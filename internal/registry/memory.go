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

// cacheEntry is what is known about one repository under one credential: the facts
// of digests, which never change; the digest that each tag had last, which only
// orders what is asked next, and whose turn that is; how far a long tag list
// was read; and what was answered for which moment.
type cacheEntry struct {
	file string // empty: not kept on disk
	scope   scope
	observe func(known bool)

	once sync.Once
	mu   sync.Mutex
	content cacheFile
	size int // of all facts, see fact.size
	// changed counts changes, saved what of them is on disk.
	changed, saved int

	saving sync.Mutex // one writes at a time
}

// cacheFile is the content of a cache file.
type cacheFile struct {
	Version    int               `json:"version"`
	Credential string            `json:"credential"` // see identify; no secret
	Repository string            `json:"repository"`
	Metadata      map[string]metadata   `json:"facts,omitempty"` // by digest
	LastDigests       map[string]string `json:"tags,omitempty"`  // tag to digest, only a hint
	Progress      progress             `json:"sweep,omitzero"`
	Slice       uint16            `json:"turn,omitempty"` // see target.again
	cachedResponses
}

// cacheFileVersion changes when the meaning of a cache file does; files of another
// version are asked for again.
const cacheFileVersion = 1

// Bounds of one memory.
const (
	maxMetadataSize = 64 << 20 // bytes of all facts: those of 100,000 images and more
	maxLastDigests  = 100_000
	maxCacheFile = 256 << 20
)

func newCacheEntry(folder string, at scope) *cacheEntry {
	m := &cacheEntry{scope: at, observe: func(bool) {}}
	if folder != "" {
		sum := sha256.Sum256([]byte(at.credential + "\x00" + at.repository.String()))
		m.file = filepath.Join(folder, "registry", hex.EncodeToString(sum[:16])+".json")
	}
	return m
}

// load reads the cache file once. One that is missing, broken, or about another
// credential or repository is as good as none.
func (m *cacheEntry) load() {
	m.once.Do(func() {
		m.content = readCacheFile(m.file, m.scope)
		for _, f := range m.content.Metadata {
			m.size += f.size()
		}
	})
}

func readCacheFile(file string, at scope) cacheFile {
	empty := cacheFile{
		Version: cacheFileVersion, Credential: at.credential, Repository: at.repository.String(),
		Metadata: map[string]metadata{}, LastDigests: map[string]string{}, cachedResponses: cachedResponses{Digests: map[string]cachedDigest{}},
	}
	if file == "" {
		return empty
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCacheFile {
		return empty
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return empty
	}
	return parseCacheFile(data, empty)
}

// parseCacheFile takes what a cache file says, entry by entry, or nothing.
func parseCacheFile(data []byte, empty cacheFile) cacheFile {
	var read cacheFile
	if err := json.Unmarshal(data, &read); err != nil {
		return empty
	}
	if read.Version != empty.Version || read.Credential != empty.Credential || read.Repository != empty.Repository {
		return empty
	}
	for digest, f := range read.Metadata {
		if image.ValidDigest(digest) && f.valid() {
			empty.Metadata[digest] = f
		}
	}
	for tag, digest := range read.LastDigests {
		if image.ValidTag(tag) && image.ValidDigest(digest) {
			empty.LastDigests[tag] = digest
		}
	}
	if read.Progress.valid() {
		empty.Progress = read.Progress
	}
	empty.Slice, empty.cachedResponses = read.Slice, read.cachedResponses.checked()
	return empty
}

// save writes the cache file if anything is new.
func (m *cacheEntry) save() error {
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
	data, err := json.Marshal(m.content)
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

func (m *cacheEntry) metadata(digest string) (metadata, bool) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.content.Metadata[digest]
	if ok {
		m.observe(true)
	}
	return f, ok
}

func (m *cacheEntry) addMetadata(digest string, f metadata) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.content.Metadata[digest]; ok {
		m.size -= known.size()
	}
	m.content.Metadata[digest] = f
	m.size += f.size()
	m.changed++
	for old, known := range m.content.Metadata {
		if m.size <= maxMetadataSize {
			break
		}
		if old != digest { // any one: it is asked for again
			delete(m.content.Metadata, old)
			m.size -= known.size()
		}
	}
}

// lastDigest returns the digest that a tag had when it was last asked for.
func (m *cacheEntry) lastDigest(tag string) (string, bool) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	digest, ok := m.content.LastDigests[tag]
	return digest, ok
}

// setLastDigest remembers what a tag has; an empty digest forgets it.
func (m *cacheEntry) setLastDigest(tag, digest string) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.content.LastDigests[tag] == digest {
		return
	}
	if digest == "" {
		delete(m.content.LastDigests, tag)
	} else if len(m.content.LastDigests) < maxLastDigests {
		m.content.LastDigests[tag] = digest
	}
	m.changed++
}

// nextSlice counts the slices of tags that were asked again: one for each moment.
func (m *cacheEntry) nextSlice(when validity) int {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !when.holds(m.content.SliceAsOf) {
		m.content.Slice, m.content.SliceAsOf = m.content.Slice+1, when.from
		m.changed++
	}
	return int(m.content.Slice)
}

func (m *cacheEntry) progress() progress {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.content.Progress
}

func (m *cacheEntry) setProgress(s progress) {
	m.load()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.content.Progress = s
	m.changed++
}
