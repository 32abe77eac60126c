package git

import (
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"promoter/internal/git/object"
	"promoter/internal/lru"
)

// Memory keeps what mirrors read of their files from one use to the next in a process, up to a
// size: the indexes of their packs, large trees, and commits. Each event would read the same
// ones again. It forgets those mirrors first that were not used for the longest time. A nil
// Memory keeps nothing.
type Memory struct {
	mirrors *lru.Cache[string, remembered] // by directory
}

// remembered is what one mirror read. The name of a pack is the checksum of its content, so that the
// same names mean the same objects, also after another process used the mirror.
type remembered struct {
	packs   []string
	files   *filesystem.Storage // closed, with its indexes
	objects *cache.ObjectLRU    // of files, empty
	cache   *object.Cache
}

// NewMemory returns a memory of about so many bytes.
func NewMemory(limit int64) *Memory {
	return &Memory{mirrors: lru.New[string, remembered](limit)}
}

// take returns what is kept of the mirror in a directory if it still has the same packs. The mirror
// owns it until it calls keep.
func (m *Memory) take(dir string, packs []string) (remembered, bool) {
	if m == nil {
		return remembered{}, false
	}
	kept, known := m.mirrors.Get(dir)
	m.mirrors.Delete(dir)
	return kept, known && slices.Equal(kept.packs, packs)
}

// keep keeps what the mirror in a directory read, for the packs that it has now.
func (m *Memory) keep(dir string, kept remembered) {
	if m == nil {
		return
	}
	// In memory, an index is larger than its file, and the first search by offset doubles it.
	const ofIndex, ofByte = 8 << 10, 3
	size := kept.cache.Size()
	for _, name := range kept.packs {
		info, err := os.Stat(indexOf(name))
		if err != nil {
			return
		}
		size += ofIndex + ofByte*info.Size()
	}
	m.mirrors.Put(dir, kept, size)
}
