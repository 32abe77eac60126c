package scan

import (
	"container/list"
	"sync"
)

// Memory keeps the latest scans of several repositories while a process runs, up to a size. It
// forgets those first that were not used for the longest time. A nil Memory keeps nothing.
type Memory struct {
	limit int64 // bytes

	mutex  sync.Mutex
	size   int64
	byDir  map[string]*list.Element // of keptScans
	recent *list.List               // newest first
}

// keptScans are the scans of one repository.
type keptScans struct {
	dir   string
	byKey map[string]*snapshot // see Cache.scanner
	size  int64
}

// NewMemory returns a memory of about so many bytes.
func NewMemory(limit int64) *Memory {
	return &Memory{limit: limit, byDir: map[string]*list.Element{}, recent: list.New()}
}

// load returns the scans of the repository that saves them in a directory.
func (m *Memory) load(dir string) map[string]*snapshot {
	if m == nil {
		return nil
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	found, known := m.byDir[dir]
	if !known {
		return nil
	}
	m.recent.MoveToFront(found)
	return found.Value.(keptScans).byKey //nolint:forcetypeassert // the list has no other type
}

// store replaces the scans of a repository.
func (m *Memory) store(dir string, byKey map[string]*snapshot) {
	if m == nil {
		return
	}
	kept := keptScans{dir: dir, byKey: byKey}
	for _, one := range byKey {
		kept.size += one.size()
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if before, known := m.byDir[dir]; known {
		m.forget(before)
	}
	if kept.size > m.limit {
		return
	}
	m.byDir[dir] = m.recent.PushFront(kept)
	m.size += kept.size
	for m.size > m.limit {
		m.forget(m.recent.Back())
	}
}

func (m *Memory) forget(one *list.Element) {
	kept := m.recent.Remove(one).(keptScans) //nolint:forcetypeassert // the list has no other type
	delete(m.byDir, kept.dir)
	m.size -= kept.size
}

// What a file, a target, and a reference need in memory, in bytes, measured with the tree of the
// benchmarks. Texts of files are not kept, only what they refer to.
const (
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
		references += len(current.References) + len(current.Refusals)
	}
	return int64(files)*sizeOfFile + int64(len(of.targets))*sizeOfTarget + int64(references)*sizeOfReference
}
