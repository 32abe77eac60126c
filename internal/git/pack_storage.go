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

const (
	// objectCache is how many bytes of objects a mirror keeps in memory.
	objectCache = 16 << 20

	// maxPacks is how many packs a mirror may have before it is created again.
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

// packStorage stores the objects of a mirror: those of the remote in packs, and
// those that are not pushed yet in memory. So the packs contain only what the remote
// has, and objects that are never pushed leave nothing behind.
type packStorage struct {
	dir     string
	state   *mirrorState // has the boundary of the shallow history
	files   *filesystem.Storage
	objects *cache.ObjectLRU                         // of files
	pending map[plumbing.Hash]plumbing.EncodedObject // not pushed yet
	size    int64                                    // of pending, in bytes
	limit   int64                                    // of size
	damaged bool                                     // an object could not be read, or there is no room for more
	partial bool                                     // an index could not be read
	grown   int64                                    // of packs that were added, in bytes
}

func openStorage(dir string, state *mirrorState, limit int64) *packStorage {
	p := &packStorage{dir: dir, state: state, pending: map[plumbing.Hash]plumbing.EncodedObject{}, limit: limit}
	p.open()
	return p
}

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
	if encoded, ok := p.pending[hash]; ok && (kind == plumbing.AnyObject || kind == encoded.Type()) {
		return encoded, nil
	}
	encoded, err := p.files.EncodedObject(kind, hash)
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
		p.damaged = true
	}
	return encoded, err
}

// HasEncodedObject implements object.Storage.
func (p *packStorage) HasEncodedObject(hash plumbing.Hash) error {
	if _, ok := p.pending[hash]; ok {
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
	if p.size+encoded.Size() > p.limit {
		return hash, fault.New(fault.Invalid, "the new objects exceed the size limit of a pack")
	}
	p.size += encoded.Size()
	p.pending[hash] = encoded
	return hash, nil
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
	for _, id := range pushed {
		if encoded, ok := p.pending[plumbing.Hash(id)]; ok {
			p.size -= encoded.Size()
			delete(p.pending, plumbing.Hash(id))
		}
	}
	return nil
}

// takePack makes a file a pack of the mirror.
func (p *packStorage) takePack(file string, index *idxfile.Writer) error {
	content, err := index.Index()
	if err != nil {
		return fmt.Errorf("index a pack: %w", err)
	}
	pack := filepath.Join(p.dir, "objects", "pack", "pack-"+plumbing.Hash(content.PackfileChecksum).String()+".pack")
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
	loaded, size := memory.NewStorage(), int64(0)
	for _, hash := range all {
		encoded, err := p.EncodedObject(plumbing.AnyObject, hash)
		if err == nil {
			size += encoded.Size()
			_, err = loaded.SetEncodedObject(encoded)
		}
		if err != nil {
			return fmt.Errorf("pack %s: %w", hash, err)
		}
	}
	window := uint(deltaWindow)
	if size > largePack {
		window = largeDeltaWindow
	}
	if _, err := packfile.NewEncoder(pack, loaded, true).Encode(all, window); err != nil {
		return fmt.Errorf("encode a pack: %w", err)
	}
	return nil
}

// Each fetch and each push adds a pack, which costs an open file and time in each
// lookup. When there are more than maxSmallPacks, the small ones are joined.
const (
	maxSmallPacks = 32
	smallPack     = 1 << 20  // bytes of the file
	smallContent  = 4 << 20  // bytes of the objects in a pack: a hostile one may unpack to a thousand times its size
	maxJoined     = 32 << 20 // bytes of the objects that are joined in memory
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
	var joined []string
	var all []plumbing.Hash
	seen, total := map[plumbing.Hash]bool{}, int64(0)
	for _, name := range small {
		content, size, err := p.packContent(name)
		if err != nil {
			return fmt.Errorf("join the packs of a mirror: %w", err)
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
	var index *idxfile.Writer
	err = p.encodePack(&pack, all)
	if err == nil {
		index, _, err = indexPack(bytes.NewReader(pack.Bytes()), object.MaxSize)
	}
	if err == nil {
		err = p.addPack(pack.Bytes(), index, nil)
	}
	if err != nil {
		return fmt.Errorf("join the packs of a mirror: %w", err)
	}
	if err := p.files.Close(); err != nil { // before their files are removed
		return fmt.Errorf("join the packs of a mirror: %w", err)
	}
	for _, name := range joined {
		if err := errors.Join(os.Remove(name), os.Remove(indexOf(name))); err != nil {
			return fmt.Errorf("join the packs of a mirror: %w", err)
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

// packContent returns the objects of a pack and their total size.
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
	for err == nil {
		var entry *idxfile.Entry
		var unpacked int64
		if entry, err = entries.Next(); err != nil {
			break
		}
		unpacked, err = p.files.EncodedObjectSize(entry.Hash)
		all, size = append(all, entry.Hash), size+unpacked
	}
	if !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	return all, size, nil
}

// check reports whether the packs are complete, by their last bytes: the checksum
// that names the file. A pack that was truncated by a crash or a full disk has
// others.
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
