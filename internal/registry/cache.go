package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"promoter/internal/atomicfile"
	"promoter/internal/image"
)

// A cache has one entry for each image repository and credential: what one credential may read is never
// given to another one. An entry keeps two kinds of things:
//
//   - what never changes, because a digest is a hash: the metadata of a digest, and that it is signed. It is
//     kept until there is no room for it.
//   - what may change: the list of tags, and the digest of a tag. Each has a time, AsOf. That is not when the
//     response came, but the time of the event for which it was requested, such as a webhook or a poll. A
//     request asks for answers as of a time, and one of that time or a later one is accepted. So replicas whose
//     clocks differ agree on what is outdated. The clock of this process only refuses times that are too
//     far ahead, see validity.
//
// A list also has the time since when it is as it is, Changed. While a list is the same, the digest of a listed tag
// is accepted for longer, because few publishers push such a tag again (docs/decisions/0044).
//
// The life of an entry: the first use reads its file, if Options.CacheDir is set. Client.Flush writes what changed,
// after a reconciliation. When clients that came later did not use the entry, or there is no room in memory, it is
// written and forgotten, and the next use reads its file again. Client.Close deletes the oldest files of a folder that
// is too large. Everything in the cache can be requested again, so each step may fail and lose it: a broken file, one of
// another version, or a full disk costs requests and nothing else.

// maxCacheBytes bounds what entries have in memory, in bytes with estimated overheads. The
// entries that do not fit are written to the cache folder too, if there is one.
const maxCacheBytes = 96 << 20

// maxCacheEntries bounds the entries in memory, because config files name the
// repositories. An entry of an image with a few tags takes one or two KiB. What does
// not fit is written to the cache folder and read from there again.
const maxCacheEntries = 1 << 15

// idleClients is how many newer clients may exist before an entry that none of them
// used is dropped. Two may work side by side.
const idleClients = 3

// Cache keeps responses from one Client to the next. It is safe for many goroutines.
//
// Locks are taken in this order: mu of the cache, saving and mu of an entry, and changes.
type Cache struct {
	limit   int          // entries in memory
	most    int64        // bytes in memory, about
	bytes   atomic.Int64 // of all entries, see cacheEntry.count
	written atomic.Bool  // a file was written since the last pruning of the folder

	mu      sync.Mutex
	clients int // how many have begun
	entries map[scope]*usedEntry

	changes sync.Mutex
	changed map[image.Repository]bool // see TakeChanged; at most limit, and the rest waits for its own turn
}

// usedEntry is an entry with the number of the last client that used it.
type usedEntry struct {
	entry  *cacheEntry
	client int
}

// NewCache makes an empty one.
func NewCache() *Cache {
	return &Cache{
		limit:   maxCacheEntries,
		most:    maxCacheBytes,
		entries: map[scope]*usedEntry{},
		changed: map[image.Repository]bool{},
	}
}

// TakeChanged returns the image repositories of which a response differs from an earlier
// one, since the last call: other tags, or another digest of a tag. Other GitOps repositories that follow them
// are triggered as by a webhook.
func (c *Cache) TakeChanged() (all []image.Repository) {
	c.changes.Lock()
	defer c.changes.Unlock()
	for repository := range c.changed {
		all = append(all, repository)
	}
	clear(c.changed)
	return all
}

func (c *Cache) noteChanged(repository image.Repository) {
	c.changes.Lock()
	defer c.changes.Unlock()
	if len(c.changed) < c.limit {
		c.changed[repository] = true
	}
}

// begin makes room for the next client. Entries that are no longer used go to the
// cache folder, if there is one.
func (c *Cache) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clients++
	for at, used := range c.entries {
		if c.clients-used.client > idleClients {
			c.drop(at)
		}
	}
}

// drop writes an entry to the cache folder, if there is one, and forgets it. The caller
// holds the lock.
func (c *Cache) drop(at scope) {
	entry := c.entries[at].entry
	_ = entry.saveAll() // a failure costs requests
	entry.uncount()
	delete(c.entries, at)
}

// dropUntil drops entries until a condition is met. Which ones does not matter: what is
// needed is requested again.
func (c *Cache) dropUntil(enough func() bool) {
	for at := range c.entries {
		if enough() {
			return
		}
		c.drop(at)
	}
}

// entry returns the entry of a scope.
func (c *Cache) entry(at scope, options Options) *cacheEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if used, ok := c.entries[at]; ok {
		used.client = c.clients
		return used.entry
	}
	c.dropUntil(func() bool { return len(c.entries) < c.limit && c.bytes.Load() <= c.most })
	made := newCacheEntry(c, options.CacheDir, at)
	made.observe = options.ObserveCache
	c.entries[at] = &usedEntry{entry: made, client: c.clients}
	return made
}

// save writes what changed to the cache folder.
func (c *Cache) save() error {
	c.mu.Lock()
	var all []*cacheEntry
	for _, used := range c.entries {
		all = append(all, used.entry)
	}
	c.mu.Unlock()
	var failed []error
	for _, entry := range all {
		failed = append(failed, entry.save())
	}
	return errors.Join(failed...)
}

// prune deletes the oldest files of a cache folder that has more than most bytes: config files name the
// repositories, and a file of an image that no repository follows any more is never read again. The oldest are those that
// were not written for the longest time.
func prune(folder string, most int64) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the registry cache: %w", err)
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, file := range files {
		if total <= most {
			break
		}
		if err := os.Remove(filepath.Join(folder, file.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("shrink the registry cache: %w", err)
		}
		total -= file.Size()
	}
	return nil
}

// cacheFolder contains the files of all entries, below Options.CacheDir.
const cacheFolder = "registry"

// cacheEntry is what is known about one image repository under one credential.
type cacheEntry struct {
	cache   *Cache
	file    string // empty: not kept on disk
	scope   scope
	observe func(hit bool) // called for each lookup of metadata

	once   sync.Once
	loaded atomic.Bool // once is done

	mu      sync.Mutex // locked by lock, which reads the file first
	content cacheFile
	// changed counts changes; saved is the count that is on disk. Touched reports that only times
	// changed since, which are written when the entry leaves the memory.
	changed, saved int
	touched        bool

	// What the entry takes in memory, in bytes. The parts that are costly to add up are kept.
	size    int   // of all metadata, see metadata.size
	tagSize int64 // of all tag lists
	counted int64 // of this entry in those of the cache
	dropped bool  // the cache does not count it any more

	saving sync.Mutex // one write at a time
}

// cacheFile is the content of a cache file: JSON, one file for each entry. It is named by a hash of credential and
// repository, and repeats both, so that a file is never used for another entry.
type cacheFile struct {
	Version    int    `json:"version"`
	Credential string `json:"credential"` // see identify; no secret
	Repository string `json:"repository"`
	// Metadata is that of each digest. It never changes.
	Metadata map[string]metadata `json:"metadata,omitempty"`
	// LastDigests are the digests that tags had last. They only order requests: a
	// tag's digest is requested again before it is selected.
	LastDigests map[string]string `json:"lastDigests,omitempty"`
	// Listing is how far a long tag list was read.
	Listing progress `json:"listing,omitzero"`
	// Slice counts the slices of tags that were rechecked for policy newest, see access.recheck, and
	// SliceAsOf is the time of the last one. Another process continues with the next slice.
	Slice     uint16    `json:"slice,omitempty"`
	SliceAsOf time.Time `json:"sliceAsOf,omitzero"`
	// Signers are those of the digests that were verified, by policy and digest. Only that a
	// digest is signed never changes.
	Signers map[string]string `json:"signers,omitempty"`
	// Tags and Digests are responses that can change, with their time.
	Tags    *cachedTags             `json:"tags,omitempty"`
	Digests map[string]cachedDigest `json:"digests,omitempty"` // by tag
}

// cachedTags is a whole tag list.
type cachedTags struct {
	Tags []string  `json:"tags"`
	AsOf time.Time `json:"asOf"`
	// Changed is the first time for which the list was read as it is.
	Changed time.Time `json:"changed,omitzero"`
}

// cachedDigest is the digest of a tag.
type cachedDigest struct {
	Digest string    `json:"digest"`
	AsOf   time.Time `json:"asOf"`

	written time.Time // AsOf in the file, or when it is saved next
}

// writeTimes is how much later the same digest is requested again so that the time is written: then it saves
// requests in later processes. A moving tag has a new time in each of them.
const writeTimes = 10 * time.Minute

// cacheFileVersion changes with the meaning of a cache file. Files of another version
// are ignored.
const cacheFileVersion = 3

// Bounds of one entry. What exceeds them is not kept, and requested again. A publisher decides how many tags
// and digests there are, and must not fill the memory or the disk.
const (
	maxMetadataSize = 16 << 20 // bytes of all metadata: those of 25,000 images and more
	maxLastDigests  = 20_000   // as many as the tags that one batch reads by default
	maxDigests      = 2000     // more than one batch requests
	maxSigners      = 5000     // digests that were verified, for all policies
	maxSignerText   = 2048     // bytes of a signer: an identity of a certificate, or the name of a key
	maxCacheFile    = 64 << 20 // bytes; a larger file is not read
	maxCacheFolder  = 1 << 30  // bytes of all files
)

func newCacheEntry(cache *Cache, folder string, at scope) *cacheEntry {
	e := &cacheEntry{cache: cache, scope: at, observe: func(bool) {}}
	if folder != "" {
		sum := sha256.Sum256([]byte(at.credential + "\x00" + at.repository.String()))
		e.file = filepath.Join(folder, cacheFolder, hex.EncodeToString(sum[:16])+".json")
	}
	return e
}

// lock locks the entry after reading its file once. A file that is missing, broken, or
// of another credential or repository counts as empty.
func (e *cacheEntry) lock() {
	e.once.Do(func() {
		e.content = readCacheFile(e.file, e.scope)
		for _, m := range e.content.Metadata {
			e.size += m.size()
		}
		e.countTags()
		e.loaded.Store(true)
	})
	e.mu.Lock()
}

// Overheads of what an entry has in memory, in bytes: of the strings, maps, and structs around the texts. They are
// estimates for the limit of the cache, rounded up.
const (
	tagOverhead    = 32  // of a string
	digestOverhead = 300 // of a tag with its digest in a map
	signerOverhead = 400 // of a signer
)

// count updates the bytes of the entry, after its tags, digests, or metadata changed.
func (e *cacheEntry) count() {
	if e.dropped {
		return
	}
	digests := len(e.content.LastDigests) + len(e.content.Digests)
	size := int64(e.size) + e.tagSize
	size += int64(digests) * digestOverhead
	size += int64(len(e.content.Signers)) * signerOverhead
	e.cache.bytes.Add(size - e.counted)
	e.counted = size
}

// countTags updates the bytes of the entry after its tag lists changed.
func (e *cacheEntry) countTags() {
	lists := [][]string{e.content.Listing.Tags, e.content.Listing.Previous}
	if e.content.Tags != nil {
		lists = append(lists, e.content.Tags.Tags)
	}
	e.tagSize = 0
	for _, tags := range lists {
		for _, tag := range tags {
			e.tagSize += int64(len(tag)) + tagOverhead
		}
	}
	e.count()
}

// uncount ends the counting of an entry that is dropped. Who uses it still may finish.
func (e *cacheEntry) uncount() {
	e.lock()
	defer e.mu.Unlock()
	e.cache.bytes.Add(-e.counted)
	e.counted = 0
	e.dropped = true
}

func readCacheFile(file string, at scope) cacheFile {
	empty := cacheFile{
		Version:     cacheFileVersion,
		Credential:  at.credential,
		Repository:  at.repository.String(),
		Metadata:    map[string]metadata{},
		LastDigests: map[string]string{},
		Digests:     map[string]cachedDigest{},
		Signers:     map[string]string{},
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

// parseCacheFile returns the valid parts of a cache file, or empty.
func parseCacheFile(data []byte, empty cacheFile) cacheFile {
	var read cacheFile
	if err := json.Unmarshal(data, &read); err != nil {
		return empty
	}
	if read.Version != empty.Version || read.Credential != empty.Credential || read.Repository != empty.Repository {
		return empty
	}
	read.Metadata = validOf(read.Metadata, func(digest string, m metadata) bool { return image.ValidDigest(digest) && m.valid() })
	read.LastDigests = validOf(read.LastDigests, func(tag, digest string) bool { return image.ValidTag(tag) && image.ValidDigest(digest) })
	read.Digests = validOf(read.Digests,
		func(tag string, d cachedDigest) bool { return image.ValidTag(tag) && image.ValidDigest(d.Digest) })
	read.Signers = validOf(read.Signers, func(_, by string) bool { return by != "" && len(by) <= maxSignerText })
	if len(read.Signers) > maxSigners {
		clear(read.Signers)
	}
	for tag, d := range read.Digests {
		d.written = d.AsOf
		read.Digests[tag] = d
	}
	if !read.Listing.valid() {
		read.Listing = progress{}
	}
	if read.Tags != nil && (len(read.Tags.Tags) > maxTags || slices.ContainsFunc(read.Tags.Tags, invalidTag)) {
		read.Tags = nil
	}
	return read
}

// validOf removes the entries of a map that are not valid, and returns it; never nil.
func validOf[V any](all map[string]V, valid func(key string, value V) bool) map[string]V {
	if all == nil {
		return map[string]V{}
	}
	maps.DeleteFunc(all, func(key string, value V) bool { return !valid(key, value) })
	return all
}

// saveAll is save, also if only times changed.
func (e *cacheEntry) saveAll() error {
	e.mu.Lock()
	if e.touched {
		e.changed++
	}
	e.mu.Unlock()
	return e.save()
}

// save writes the cache file if anything changed but the times of what is the same. To write those
// after each poll would cost a file for each image, and another process, which asks for later answers,
// needs them hardly ever, but see writeTimes.
func (e *cacheEntry) save() error {
	if e.file == "" || !e.loaded.Load() { // nothing can have changed
		return nil
	}
	e.saving.Lock()
	defer e.saving.Unlock()
	e.lock()
	changed := e.changed
	if changed == e.saved {
		e.mu.Unlock()
		return nil
	}
	data, err := json.Marshal(e.content)
	e.touched = false
	e.mu.Unlock()
	if err == nil {
		err = atomicfile.Replace(e.file, data)
	}
	if err != nil {
		return fmt.Errorf("write the registry cache: %w", err)
	}
	e.cache.written.Store(true)
	e.mu.Lock()
	e.saved = changed
	e.mu.Unlock()
	return nil
}

// metadata returns the metadata of a digest.
func (e *cacheEntry) metadata(digest string) (metadata, bool) {
	e.lock()
	defer e.mu.Unlock()
	m, ok := e.content.Metadata[digest]
	if ok {
		e.observe(true)
	}
	return m, ok
}

func (e *cacheEntry) addMetadata(digest string, m metadata) {
	e.lock()
	defer e.mu.Unlock()
	if known, ok := e.content.Metadata[digest]; ok {
		e.size -= known.size()
	}
	e.content.Metadata[digest] = m
	e.size += m.size()
	e.changed++
	for old, known := range e.content.Metadata {
		if e.size <= maxMetadataSize {
			break
		}
		if old != digest { // any one: it is requested again
			delete(e.content.Metadata, old)
			e.size -= known.size()
		}
	}
	e.count()
}

// signer returns who signed a digest, by policy and digest.
func (e *cacheEntry) signer(kept string) (string, bool) {
	e.lock()
	defer e.mu.Unlock()
	by, ok := e.content.Signers[kept]
	return by, ok
}

func (e *cacheEntry) setSigner(kept, by string) {
	if len(by) > maxSignerText {
		return
	}
	e.lock()
	defer e.mu.Unlock()
	for old := range e.content.Signers {
		if len(e.content.Signers) < maxSigners {
			break
		}
		delete(e.content.Signers, old) // any one: it is verified again
	}
	e.content.Signers[kept] = by
	e.changed++
	e.count()
}

// lastDigest returns the digest that a tag had when it was last requested.
func (e *cacheEntry) lastDigest(tag string) (string, bool) {
	e.lock()
	defer e.mu.Unlock()
	digest, ok := e.content.LastDigests[tag]
	return digest, ok
}

// setLastDigest remembers the digest of a tag; an empty one removes it.
func (e *cacheEntry) setLastDigest(tag, digest string) {
	e.lock()
	defer e.mu.Unlock()
	if e.content.LastDigests[tag] == digest {
		return
	}
	if digest == "" {
		delete(e.content.LastDigests, tag)
	} else if len(e.content.LastDigests) < maxLastDigests {
		e.content.LastDigests[tag] = digest
	}
	e.changed++
	e.count()
}

// nextSlice counts the slices of tags that are rechecked: one for each time.
func (e *cacheEntry) nextSlice(when validity) int {
	e.lock()
	defer e.mu.Unlock()
	if !when.holds(e.content.SliceAsOf) {
		e.content.Slice++
		e.content.SliceAsOf = when.from
		e.changed++
	}
	return int(e.content.Slice)
}

func (e *cacheEntry) progress() progress {
	e.lock()
	defer e.mu.Unlock()
	return e.content.Listing
}

func (e *cacheEntry) setProgress(p progress) {
	e.lock()
	defer e.mu.Unlock()
	e.content.Listing = p
	e.changed++
	e.countTags()
}

// validity is the range of times for which a response is accepted. Other clocks set
// these times too. One that is further ahead than clocks differ comes from a clock
// that was wrong, and its response would be accepted for too long.
type validity struct{ from, to time.Time }

// maxClockSkew is how far the clocks of replicas and databases may be apart.
const maxClockSkew = time.Hour

// validity of the zero time accepts no response.
func (v *View) validity(asOf time.Time) validity {
	if asOf.IsZero() {
		return validity{}
	}
	return validity{from: asOf, to: v.batch.client.options.Now().Add(maxClockSkew)}
}

// never reports that no response is accepted, so that the file of an entry need not be read.
func (w validity) never() bool { return w.to.IsZero() }

func (w validity) holds(asOf time.Time) bool { return !asOf.Before(w.from) && asOf.Before(w.to) }

// tags returns the tag list, if it was requested for an accepted time.
func (e *cacheEntry) tags(when validity) (listing, bool) {
	if when.never() {
		return listing{}, false
	}
	e.lock()
	defer e.mu.Unlock()
	known := e.content.Tags
	if known == nil || !when.holds(known.AsOf) {
		return listing{}, false
	}
	return listing{tags: known.Tags, complete: true, changed: known.Changed}, true
}

// setTags keeps a complete list of tags for a time, if there is one and no later list is known, and
// returns it with the time since when it is as it is. The caller does not change the tags any more.
func (e *cacheEntry) setTags(read listing, asOf time.Time) listing {
	if asOf.IsZero() || !read.complete {
		return read
	}
	e.lock()
	defer e.mu.Unlock()
	known := e.content.Tags
	switch {
	case known != nil && known.AsOf.After(asOf):
		return read
	case known != nil && slices.Equal(known.Tags, read.tags):
		read.tags = known.Tags // the same tags are not in memory twice
		read.changed = known.Changed
		e.touched = e.touched || asOf.After(known.AsOf)
	default:
		if known != nil {
			e.cache.noteChanged(e.scope.repository)
		}
		read.changed = asOf
		e.changed++
	}
	e.content.Tags = &cachedTags{Tags: read.tags, AsOf: asOf, Changed: read.changed}
	e.countTags()
	return read
}

// digest returns the digest of a tag, if it was requested for an accepted time.
func (e *cacheEntry) digest(tag string, when validity) (string, bool) {
	if when.never() {
		return "", false
	}
	e.lock()
	defer e.mu.Unlock()
	known, ok := e.content.Digests[tag]
	return known.Digest, ok && when.holds(known.AsOf)
}

// setDigest keeps the digest of a tag for a time, if there is one and no later digest
// is known. If there are too many, the older ones are dropped.
func (e *cacheEntry) setDigest(tag, digest string, asOf time.Time) {
	if asOf.IsZero() || image.ValidDigest(tag) {
		return
	}
	e.lock()
	defer e.mu.Unlock()
	known, found := e.content.Digests[tag]
	if known.AsOf.After(asOf) {
		return
	}
	if found && known.Digest != digest {
		e.cache.noteChanged(e.scope.repository)
	}
	if len(e.content.Digests) >= maxDigests {
		maps.DeleteFunc(e.content.Digests, func(_ string, d cachedDigest) bool { return d.AsOf.Before(asOf) })
	}
	if len(e.content.Digests) >= maxDigests {
		return
	}
	now := cachedDigest{Digest: digest, AsOf: asOf, written: asOf}
	if found && known.Digest == digest && asOf.Sub(known.written) < writeTimes {
		now.written = known.written
		e.touched = true
	} else {
		e.changed++
	}
	e.content.Digests[tag] = now
	e.count()
}
