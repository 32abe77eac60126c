package git

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
	"github.com/go-git/go-git/v5/storage/memory"

	"promoter/internal/atomicfile"
	"promoter/internal/fault"
	"promoter/internal/git/object"
)

// The files of a mirror are these:
//
//	state.json                     what is known of the objects: see mirrorState
//	lock                           locked while the mirror is open
//	objects/pack/pack-SHA1.pack    objects, compressed, many as deltas of others
//	objects/pack/pack-SHA1.idx     where each object is in that pack, sorted by its ID
//	incoming-*                     a pack that is being received or written
//
// Packs and indexes have Git's own formats (https://git-scm.com/docs/gitformat-pack, version 2), so
// that Git's tools can read a mirror. SHA1 is the checksum of the pack, which is also its last 20
// bytes. So a name stands for a content, a file that was cut short does not fit its name, and a pack
// that is received twice is stored once.
//
// The life of a pack:
//
//  1. It is received, or encoded here for a push, and indexed within the limits of pack_index.go.
//     Until then nothing in it is trusted.
//  2. Its index is written, and then the pack is renamed to its final name. The order matters: readers
//     list packs, and a pack without its index cannot be read. A crash between the two leaves an index
//     without a pack, which no reader opens and the next fetch of the same pack replaces.
//  3. The state file names the commits that became available. A crash before that leaves objects that no
//     branch needs, and the next fetch brings the branches again.
//  4. When there are many small packs, they are joined. No object is ever removed alone: a mirror only
//     grows, until it reaches a limit and is replaced as a whole.
//
// Objects that are written here stay in memory until the remote accepted them. So the packs contain only
// what the remote has, and a mirror can be deleted at any time.
const (
	// objectCache is how many bytes of unpacked objects an open mirror keeps in memory. Without it, the
	// base of many deltas would be unpacked once for each of them.
	objectCache = 16 << 20

	// maxPacks is how many packs a mirror may have when it is opened; one with more is created again.
	// A lookup searches one index after the other, and go-git keeps each pack open. Small packs are
	// joined long before, so only large ones can become so many.
	maxPacks = 256

	// unfinishedPack matches go-git's name of a pack that is being written.
	unfinishedPack = "objects/pack/tmp_*"

	// unfinishedIndex matches what a killed process left beside the index of a pack.
	unfinishedIndex = "objects/pack/pack-*.idx.*"

	// deltaWindow is how many similar objects are tried as the base of a delta, as
	// many as Git tries. With largeDeltaWindow, a pack of more than largePack bytes of
	// objects is 1.6 times as large, and takes a third of the time.
	deltaWindow      = 10
	largeDeltaWindow = 4
	largePack        = 4 << 20
)

// packStorage stores the objects of a mirror: those of the remote in packs, and those that are not
// pushed yet in memory. It implements object.Storage on top of go-git's storage of a repository.
type packStorage struct {
	dir     string
	state   *mirrorState // has the boundary of the shallow history
	files   *filesystem.Storage
	objects *cache.ObjectLRU // of files
	pending pendingObjects
	grown   int64 // the size of the packs that were added since the mirror was opened, in bytes

	// full reports that there is no room for more. The mirror
	// is replaced when it is opened the next time: until then, its user holds IDs of what is in it.
	full bool
	// damage is the first object that is not what its ID says, or that is missing although something names it; nil: none
	// was read.
	damage error
	// partial reports that an index could not be read. What is in memory then lacks a part, so that
	// Memory must not keep it; the files themselves may be intact.
	partial bool
}

// pendingObjects are objects that were written and not pushed yet, in memory.
type pendingObjects struct {
	objects map[plumbing.Hash]plumbing.EncodedObject
	size    int64 // of all objects, in bytes before compression
	limit   int64 // of size
}

// add keeps an object. It fails if the objects would not fit into a pack.
func (p *pendingObjects) add(hash plumbing.Hash, encoded plumbing.EncodedObject) error {
	if p.size+encoded.Size() > p.limit {
		return fault.New(fault.Invalid, "the new objects exceed the size limit of a pack")
	}
	p.size += encoded.Size()
	p.objects[hash] = encoded
	return nil
}

// drop forgets objects that are in a pack now.
func (p *pendingObjects) drop(pushed []object.ID) {
	for _, id := range pushed {
		if encoded, ok := p.objects[plumbing.Hash(id)]; ok {
			p.size -= encoded.Size()
			delete(p.objects, plumbing.Hash(id))
		}
	}
}

// openStorage opens the packs below the directory of a mirror. New objects may have limit bytes until
// they are pushed.
func openStorage(dir string, state *mirrorState, limit int64) *packStorage {
	pending := pendingObjects{objects: map[plumbing.Hash]plumbing.EncodedObject{}, limit: limit}
	p := &packStorage{dir: dir, state: state, pending: pending}
	p.open()
	return p
}

// open reads nothing yet: go-git lists the packs and reads their indexes with the first lookup. It is
// called again after packs were removed, because go-git has no other way to forget their indexes.
func (p *packStorage) open() {
	p.objects = cache.NewObjectLRU(objectCache)
	p.files = filesystem.NewStorageWithOptions(onlyPacks{osfs.New(p.dir)}, p.objects, filesystem.Options{
		KeepDescriptors: true, // otherwise go-git opens the pack for each object
	})
}

// close closes the files of packs. Their indexes stay in memory, and are valid as long as there are
// the same packs.
func (p *packStorage) close() error {
	p.objects.Clear()
	return p.files.Close()
}

// onlyPacks is the directory of a mirror, whose objects are all in packs. Before it looks into the
// indexes of packs, go-git opens the file that an object would have by itself: four system calls
// for each blob of a new mirror.
type onlyPacks struct{ billy.Filesystem }

// Open implements billy.Basic.
func (f onlyPacks) Open(name string) (billy.File, error) {
	folder := filepath.Base(filepath.Dir(name))
	if id := folder + filepath.Base(name); len(folder) == 2 && plumbing.IsHash(id) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f.Filesystem.Open(name)
}

// EncodedObject implements object.Storage.
func (p *packStorage) EncodedObject(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	if encoded, ok := p.pending.objects[hash]; ok && (kind == plumbing.AnyObject || kind == encoded.Type()) {
		return encoded, nil
	}
	return p.files.EncodedObject(kind, hash)
}

// Damaged is notified of what cannot be read.
func (p *packStorage) Damaged(err error) {
	if p.damage == nil {
		p.damage = err
	}
}

// HasEncodedObject implements object.Storage.
func (p *packStorage) HasEncodedObject(hash plumbing.Hash) error {
	if _, ok := p.pending.objects[hash]; ok {
		return nil
	}
	err := p.files.HasEncodedObject(hash)
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
		p.partial = true // go-git goes on with the indexes that it could read
	}
	return err
}

// SetEncodedObject implements object.Storage. It keeps the object in memory.
func (p *packStorage) SetEncodedObject(encoded plumbing.EncodedObject) (plumbing.Hash, error) {
	hash := encoded.Hash()
	if p.HasEncodedObject(hash) == nil {
		return hash, nil
	}
	return hash, p.pending.add(hash, encoded)
}

// Shallow implements object.Storage.
func (p *packStorage) Shallow() ([]plumbing.Hash, error) { return hashes(p.state.Shallow), nil }

func hashes(ids []object.ID) []plumbing.Hash {
	converted := make([]plumbing.Hash, len(ids))
	for i, id := range ids {
		converted[i] = plumbing.Hash(id)
	}
	return converted
}

// addPack stores a pack that was made here, with its index. The objects in it are not pending any longer.
func (p *packStorage) addPack(pack []byte, index *idxfile.Writer, pushed []object.ID) error {
	file := filepath.Join(p.dir, incomingPack+"own") // a mirror has one user
	err := os.WriteFile(file, pack, 0o600)
	if err == nil {
		err = p.takePack(file, index)
	}
	if err != nil {
		_ = os.Remove(file) // it is also removed when the mirror is opened
		return fmt.Errorf("write a pack: %w", err)
	}
	p.pending.drop(pushed)
	return nil
}

// takePack makes a file in the directory of the mirror one of its packs, under the name of its checksum. The
// file is moved, not copied: by default, it may have 512 MiB.
func (p *packStorage) takePack(file string, index *idxfile.Writer) error {
	content, err := index.Index()
	if err != nil {
		return fmt.Errorf("index a pack: %w", err)
	}
	checksum := plumbing.Hash(content.PackfileChecksum).String()
	pack := filepath.Join(p.dir, "objects", "pack", "pack-"+checksum+".pack")
	if _, err := os.Stat(pack); err == nil { // it is the same, by its checksum
		return os.Remove(file)
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("add a pack: %w", err)
	}
	var encoded bytes.Buffer
	if _, err := idxfile.NewEncoder(&encoded).Encode(content); err != nil {
		return fmt.Errorf("index a pack: %w", err)
	}
	if err := atomicfile.Replace(indexOf(pack), encoded.Bytes()); err != nil {
		return fmt.Errorf("write the index of a pack: %w", err)
	}
	if err := os.Rename(file, pack); err != nil {
		return fmt.Errorf("add a pack: %w", err)
	}
	p.grown += info.Size()
	return p.announce(index)
}

// announce adds an index to those that go-git has in memory. go-git only has a way to read all of
// them again, and what its own writer of a pack calls: a writer that writes nothing leaves nothing.
func (p *packStorage) announce(index *idxfile.Writer) error {
	opened, err := p.files.PackfileWriter()
	if err != nil {
		return fmt.Errorf("add a pack: %w", err)
	}
	if writer, ok := opened.(*dotgit.PackWriter); ok {
		content, err := index.Index()
		if err != nil {
			return fmt.Errorf("index a pack: %w", err)
		}
		writer.Notify(content.PackfileChecksum, index)
	}
	if err := opened.Close(); err != nil {
		return fmt.Errorf("add a pack: %w", err)
	}
	return nil
}

// encodePack writes a pack of the objects. They are copied to a storage in memory
// first, because go-git's encoder reads trees and blobs concurrently, which its
// storage on disk does not support.
func (p *packStorage) encodePack(pack io.Writer, all []plumbing.Hash) error {
	loaded := memory.NewStorage()
	size := int64(0)
	for _, hash := range all {
		encoded, err := p.EncodedObject(plumbing.AnyObject, hash)
		if err != nil {
			p.Damaged(err)
			return fmt.Errorf("pack %s: %w", hash, err)
		}
		size += encoded.Size()
		if _, err := loaded.SetEncodedObject(encoded); err != nil {
			return fmt.Errorf("pack %s: %w", hash, err)
		}
	}
	window := uint(deltaWindow)
	if size > largePack {
		window = largeDeltaWindow
	}
	if _, err := packfile.NewEncoder(pack, loaded, true).Encode(all, window); err != nil {
		p.Damaged(err) // an object that was loaded has another ID than the one under which it is stored
		return fmt.Errorf("encode a pack: %w", err)
	}
	return nil
}

// Each fetch and each push adds a pack, usually of a few kilobytes. Each costs an open file, and time in
// each lookup. When there are more than maxSmallPacks small ones, they are joined to one.
//
// Large packs are never joined: to copy them costs more than they do. What is joined is in memory, so it has
// limits after unpacking too: a hostile pack may unpack to a thousand times its size.
const (
	maxSmallPacks = 32
	smallPack     = 1 << 20  // bytes of the file
	smallContent  = 4 << 20  // bytes of the objects of one pack, unpacked
	maxJoined     = 32 << 20 // bytes of the objects of all joined packs, unpacked
)

// joinSmallPacks replaces small packs by one if there are many. After a crash, some
// objects may be stored twice, which does no harm.
func (p *packStorage) joinSmallPacks() error {
	packs, err := p.list()
	if err != nil {
		return err
	}
	var small []string
	for _, name := range packs {
		info, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("list the packs of a mirror: %w", err)
		}
		if info.Size() <= smallPack {
			small = append(small, name)
		}
	}
	if len(small) <= maxSmallPacks {
		return nil
	}
	if err := p.join(small); err != nil {
		return fmt.Errorf("join the packs of a mirror: %w", err)
	}
	return nil
}

// join replaces those of the packs that unpack to little by one.
func (p *packStorage) join(packs []string) error {
	var joined []string
	var all []plumbing.Hash
	seen := map[plumbing.Hash]bool{}
	total := int64(0)
	for _, name := range packs {
		content, size, err := p.packContent(name)
		if err != nil {
			return err
		}
		if size > smallContent || total+size > maxJoined {
			continue
		}
		total += size
		joined = append(joined, name)
		for _, hash := range content {
			if !seen[hash] {
				seen[hash] = true
				all = append(all, hash)
			}
		}
	}
	if len(joined) < 2 {
		return nil
	}
	var pack bytes.Buffer
	if err := p.encodePack(&pack, all); err != nil {
		return err
	}
	index, _, err := indexPack(bytes.NewReader(pack.Bytes()), object.MaxSize)
	if err != nil {
		return err
	}
	if err := p.addPack(pack.Bytes(), index, nil); err != nil {
		return err
	}
	if err := p.files.Close(); err != nil { // before their files are removed
		return err
	}
	for _, name := range joined { // a pack that stays keeps its index, without which it cannot be read
		if err := os.Remove(name); err != nil {
			return err
		}
		if err := os.Remove(indexOf(name)); err != nil {
			return err
		}
	}
	p.open()
	return nil
}

// list returns the paths of all packs.
func (p *packStorage) list() ([]string, error) {
	packs, err := filepath.Glob(filepath.Join(p.dir, "objects", "pack", "pack-*.pack"))
	if err != nil {
		return nil, fmt.Errorf("list the packs of a mirror: %w", err)
	}
	return packs, nil
}

func indexOf(pack string) string { return strings.TrimSuffix(pack, ".pack") + ".idx" }

// packContent returns the objects of a pack, as its index names them, and their total size in bytes, unpacked.
func (p *packStorage) packContent(pack string) (all []plumbing.Hash, size int64, err error) {
	content, err := os.ReadFile(indexOf(pack))
	if err != nil {
		return nil, 0, err
	}
	index := idxfile.NewMemoryIndex()
	if err := idxfile.NewDecoder(bytes.NewReader(content)).Decode(index); err != nil {
		return nil, 0, err
	}
	entries, err := index.Entries()
	if err != nil {
		return nil, 0, err
	}
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return all, size, nil
		}
		if err != nil {
			return nil, 0, err
		}
		unpacked, err := p.files.EncodedObjectSize(entry.Hash)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, entry.Hash)
		size += unpacked
	}
}

// check reports whether the packs are complete, by their last 20 bytes: the checksum that names the
// file. A pack that was truncated by a crash or a full disk has others. A bit that flipped inside is not
// found here, which would take the time to read all packs; the read of the object finds it.
func (p *packStorage) check() error {
	packs, err := p.list()
	if err != nil {
		return err
	}
	if len(packs) > maxPacks {
		return fault.New(fault.Invalid, "the mirror has %d packs, more than %d", len(packs), maxPacks)
	}
	for _, name := range packs {
		file, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("open a pack: %w", err)
		}
		checksum := make([]byte, len(object.ID{}))
		_, err = file.Seek(-int64(len(checksum)), io.SeekEnd)
		if err == nil {
			_, err = io.ReadFull(file, checksum)
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("read the end of a pack: %w", err)
		}
		if filepath.Base(name) != "pack-"+hex.EncodeToString(checksum)+".pack" {
			return fault.New(fault.Invalid, "the pack %s is truncated", filepath.Base(name))
		}
	}
	return nil
}

// removeMatching removes the files of a directory that match a pattern. Files that
// cannot be removed are removed the next time.
func removeMatching(dir, pattern string) {
	found, _ := filepath.Glob(filepath.Join(dir, pattern)) // fails only for a malformed pattern
	for _, name := range found {
		_ = os.Remove(name)
	}
}
