package git

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// Each fetch and each push leaves a pack, and every pack is one more to look
// into and one more open file. More than maxSmallPacks of at most smallPack bytes
// become one.
const (
	maxSmallPacks = 32
	smallPack     = 1 << 20
)

// tidy joins small packs when they are many. A crash in between leaves objects
// twice, which harms nobody.
func (m *Mirror) tidy() error {
	small, err := m.smallPacks()
	if err != nil || len(small) <= maxSmallPacks {
		return err
	}
	if err := m.disk.join(small); err != nil {
		return fmt.Errorf("join the packs of a mirror: %w", err)
	}
	fresh, room := m.disk.fresh, m.disk.room
	if err := m.disk.Close(); err != nil {
		return fmt.Errorf("join the packs of a mirror: %w", err)
	}
	for _, name := range small {
		if err := errors.Join(os.Remove(name+".pack"), os.Remove(name+".idx")); err != nil {
			return fmt.Errorf("join the packs of a mirror: %w", err)
		}
	}
	m.use(m.state)
	m.disk.fresh, m.disk.room = fresh, room
	return nil
}

// smallPacks lists the small packs by their paths, without an ending.
func (m *Mirror) smallPacks() ([]string, error) {
	found, err := filepath.Glob(filepath.Join(m.dir, "objects", "pack", "pack-*.pack"))
	if err != nil {
		return nil, fmt.Errorf("list the packs of a mirror: %w", err)
	}
	var small []string
	for _, name := range found {
		info, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("list the packs of a mirror: %w", err)
		}
		if info.Size() <= smallPack {
			small = append(small, name[:len(name)-len(".pack")])
		}
	}
	return small, nil
}

// join writes the objects of the packs into a new one.
func (d *disk) join(packs []string) error {
	seen := map[plumbing.Hash]bool{}
	var all []plumbing.Hash
	for _, name := range packs {
		listed, err := listPack(name + ".idx")
		if err != nil {
			return err
		}
		all = append(all, slices.DeleteFunc(listed, func(hash plumbing.Hash) bool {
			known := seen[hash]
			seen[hash] = true
			return known
		})...)
	}
	writer, err := d.PackfileWriter()
	if err != nil {
		return err //nolint:wrapcheck // the caller says what for
	}
	_, err = packfile.NewEncoder(writer, d, false).Encode(all, 0)
	return errors.Join(err, writer.Close())
}

// readIndex reads the index of a pack.
func readIndex(name string) (*idxfile.MemoryIndex, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what for
	}
	defer file.Close() //nolint:errcheck // it is only read
	index := idxfile.NewMemoryIndex()
	return index, idxfile.NewDecoder(file).Decode(index) //nolint:wrapcheck // the caller says what for
}

// listPack reads which objects a pack holds from its index.
func listPack(index string) ([]plumbing.Hash, error) {
	decoded, err := readIndex(index)
	if err != nil {
		return nil, err
	}
	entries, err := decoded.Entries()
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what for
	}
	var hashes []plumbing.Hash
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return hashes, nil
		}
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller says what for
		}
		hashes = append(hashes, entry.Hash)
	}
}
