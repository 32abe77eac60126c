package scan

import "promoter/internal/lru"

// Memory keeps the latest scans of several repositories while a process runs, up to a size. It
// forgets those first that were not used for the longest time. A nil Memory keeps nothing.
type Memory struct {
	limit int64                                    // bytes
	scans *lru.Cache[string, map[string]*snapshot] // by the file of a repository, and by Cache.scanner
}

// NewMemory returns a memory of about so many bytes.
func NewMemory(limit int64) *Memory {
	return &Memory{limit: limit, scans: lru.New[string, map[string]*snapshot](limit)}
}

// load returns the scans of the repository that saves them in a file.
func (m *Memory) load(file string) map[string]*snapshot {
	if m == nil {
		return nil
	}
	byKey, _ := m.scans.Get(file)
	return byKey
}

// store replaces the scans of a repository. One that is too large displaces no others.
func (m *Memory) store(file string, byKey map[string]*snapshot) {
	if m == nil {
		return
	}
	var size int64
	for _, one := range byKey {
		size += one.size()
	}
	if size > m.limit {
		m.scans.Delete(file)
		return
	}
	m.scans.Put(file, byKey, size)
}

// What a snapshot, a file, a target, and a reference need in memory, in bytes, measured with the tree
// of the benchmarks and with thousands of small repositories. Texts of files are not kept, only what they
// refer to. A snapshot has the tables with which the updater finds images in files.
const (
	sizeOfSnapshot  = 40 << 10
	sizeOfFile      = 160
	sizeOfTarget    = 400
	sizeOfReference = 700
)

// size estimates the memory that a snapshot needs.
func (of *snapshot) size() int64 {
	files, references := 0, len(of.others)
	for _, of := range of.files {
		files += len(of)
	}
	for _, current := range of.targets {
		references += len(current.References) + len(current.Derived) + len(current.Foreign)
		references += len(current.Refusals) + len(current.Mentions.Listed)
	}
	return sizeOfSnapshot + int64(files)*sizeOfFile + int64(len(of.targets))*sizeOfTarget + int64(references)*sizeOfReference
}
