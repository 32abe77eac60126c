package git

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"promoter/internal/fault"
)

// objectCache is how many bytes of objects a mirror keeps in memory.
const objectCache = 16 << 20

// disk is the store of a mirror: packs in its folder, and in memory the objects
// that were written and are not pushed yet. So the folder holds only what the
// remote has, and what is never pushed leaves nothing behind.
type disk struct {
	*filesystem.Storage
	dir     string
	state   *state
	packed  map[string]idxfile.Index // of the packs, by path
	listed  bool                     // packed has all of them
	fresh   map[plumbing.Hash]plumbing.EncodedObject
	room    int64 // bytes that may still be written
	damaged bool  // an object could not be read
}

func openDisk(dir string, s *state, room int64) *disk {
	return &disk{
		Storage: filesystem.NewStorageWithOptions(osfs.New(dir), cache.NewObjectLRU(objectCache), filesystem.Options{
			KeepDescriptors: true, // else the library opens the pack for each object
		}),
		dir:    dir,
		state:  s,
		packed: map[string]idxfile.Index{},
		fresh:  map[plumbing.Hash]plumbing.EncodedObject{},
		room:   room,
	}
}

// EncodedObject returns an object of the remote or a fresh one.
func (d *disk) EncodedObject(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	if encoded, ok := d.fresh[hash]; ok && (kind == plumbing.AnyObject || kind == encoded.Type()) {
		return encoded, nil
	}
	encoded, err := d.Storage.EncodedObject(kind, hash)
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
		d.damaged = true
	}
	return encoded, err //nolint:wrapcheck // the store of a library, as itself
}

// HasEncodedObject returns nil for an object that is here. The library would look
// for a file of each object first, and there are none.
func (d *disk) HasEncodedObject(hash plumbing.Hash) error {
	if _, ok := d.fresh[hash]; ok {
		return nil
	}
	if err := d.index(); err != nil {
		return err
	}
	for _, index := range d.packed {
		if found, err := index.Contains(hash); err != nil || found {
			return err //nolint:wrapcheck // the store of a library, as itself
		}
	}
	return plumbing.ErrObjectNotFound
}

// index reads the indexes of the packs that it does not know yet.
func (d *disk) index() error {
	if d.listed {
		return nil
	}
	names, err := filepath.Glob(filepath.Join(d.dir, "objects", "pack", "pack-*.idx"))
	if err != nil {
		return fmt.Errorf("list the packs: %w", err)
	}
	for _, name := range names {
		if d.packed[name] != nil {
			continue
		}
		index, err := readIndex(name)
		if err != nil {
			return fmt.Errorf("read the index of a pack: %w", err)
		}
		d.packed[name] = index
	}
	d.listed = true
	return nil
}

// SetEncodedObject keeps a new object in memory.
func (d *disk) SetEncodedObject(encoded plumbing.EncodedObject) (plumbing.Hash, error) {
	hash := encoded.Hash()
	if d.HasEncodedObject(hash) == nil {
		return hash, nil
	}
	if d.room -= encoded.Size(); d.room < 0 {
		return hash, fault.New(fault.Invalid, "more is written than a pack may hold")
	}
	d.fresh[hash] = encoded
	return hash, nil
}

// Shallow returns the commits whose parents are not here.
func (d *disk) Shallow() ([]plumbing.Hash, error) {
	return hashes(d.state.Shallow), nil
}

func hashes(ids []ID) []plumbing.Hash {
	converted := make([]plumbing.Hash, len(ids))
	for i, id := range ids {
		converted[i] = plumbing.Hash(id)
	}
	return converted
}

// unfinishedPack is how the library calls a pack while it writes it.
const unfinishedPack = "objects/pack/tmp_*"

// keepPack writes a pack beside the others.
func (d *disk) keepPack(pack io.Reader) error {
	writer, err := d.PackfileWriter()
	if err != nil {
		return fmt.Errorf("write a pack: %w", err)
	}
	_, err = io.Copy(writer, pack)
	if err = errors.Join(err, writer.Close()); err != nil {
		removeAll(d.dir, unfinishedPack) // the library leaves it there
		return fmt.Errorf("write a pack: %w", err)
	}
	d.listed = false
	return nil
}

// forget lets go of fresh objects that are in a pack now.
func (d *disk) forget(packed []plumbing.Hash) {
	for _, hash := range packed {
		if encoded, ok := d.fresh[hash]; ok {
			d.room += encoded.Size()
			delete(d.fresh, hash)
		}
	}
}

// maxPacks is how many packs a mirror may have before a new one is cheaper.
const maxPacks = 256

// wholePacks looks at the end of each pack: it is the hash that names the file.
// A pack that a full disk or a crash cut short has another.
func wholePacks(dir string) error {
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "pack-*.pack"))
	if err != nil {
		return fmt.Errorf("list the packs: %w", err)
	}
	if len(packs) > maxPacks {
		return fault.New(fault.Invalid, "the mirror has %d packs, and a new one would have one", len(packs))
	}
	for _, name := range packs {
		if err := wholePack(name); err != nil {
			return err
		}
	}
	return nil
}

func wholePack(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open a pack: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	end := make([]byte, len(ID{}))
	_, err = file.Seek(-int64(len(end)), io.SeekEnd)
	if err == nil {
		_, err = io.ReadFull(file, end)
	}
	if err != nil {
		return fmt.Errorf("read the end of a pack: %w", err)
	}
	want, err := hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "pack-"), ".pack"))
	if err != nil || !bytes.Equal(want, end) {
		return fault.New(fault.Invalid, "the pack %s is cut short", filepath.Base(name))
	}
	return nil
}
