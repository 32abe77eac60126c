package git

import (
	"crypto/sha1" //nolint:gosec // Git's own hash
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
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
	if small, err = apart(small); err != nil || len(small) < 2 {
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

// apart leaves out packs that hold an object of one before: a pack has each once.
func apart(packs []string) ([]string, error) {
	seen := map[plumbing.Hash]bool{}
	var kept []string
	for _, name := range packs {
		listed, err := listPack(name + ".idx")
		if err != nil {
			return nil, fmt.Errorf("join the packs of a mirror: %w", err)
		}
		if slices.ContainsFunc(listed, func(hash plumbing.Hash) bool { return seen[hash] }) {
			continue
		}
		for _, hash := range listed {
			seen[hash] = true
		}
		kept = append(kept, name)
	}
	return kept, nil
}

// join writes the packs into a new one, each as it stands there: what a delta is
// based on lies in the same pack, as far away as before.
func (d *disk) join(packs []string) error {
	var count uint32
	for _, name := range packs {
		listed, err := listPack(name + ".idx")
		if err != nil {
			return err
		}
		count += uint32(len(listed)) //nolint:gosec // small packs
	}
	writer, err := d.PackfileWriter()
	if err != nil {
		return err //nolint:wrapcheck // the caller says what for
	}
	sum := sha1.New() //nolint:gosec // Git's own hash
	to := io.MultiWriter(writer, sum)
	_, err = to.Write(packHeader(count))
	for _, name := range packs {
		if err == nil {
			err = copyEntries(to, name+".pack")
		}
	}
	if err == nil {
		_, err = writer.Write(sum.Sum(nil))
	}
	return errors.Join(err, writer.Close())
}

// copyEntries writes what lies between the header of a pack and the sum at its end.
func copyEntries(to io.Writer, pack string) error {
	file, err := os.Open(pack)
	if err != nil {
		return err //nolint:wrapcheck // the caller says what for
	}
	defer file.Close() //nolint:errcheck // it is only read
	info, err := file.Stat()
	if err != nil {
		return err //nolint:wrapcheck // the caller says what for
	}
	begin := int64(len(packHeader(0)))
	_, err = io.Copy(to, io.NewSectionReader(file, begin, info.Size()-begin-sha1.Size))
	return err //nolint:wrapcheck // the caller says what for
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
