package updater

import (
	"encoding/gob"
	"fmt"
	"io"
	"slices"
	"sync"

	"promoter/internal/edit"
)

// Memory keeps what was found in files by their content, so that each content is
// parsed once ever. It is for one follower and one set of options: what it holds
// says nothing about another. It is safe for use by several goroutines.
type Memory struct {
	mutex sync.Mutex
	files map[string]remembered
	used  map[string]bool // since the memory was made or read
}

// remembered is what was found in the last content of one file.
type remembered struct {
	ID         string
	References []edit.Reference
	Refusals   []edit.Refusal
	Notes      []Note
	Declared   []declaration
}

// declaration is a source that a file declares, for references in other files.
type declaration struct{ Kind, Namespace, Name, URL string }

// NewMemory returns an empty memory.
func NewMemory() *Memory { return &Memory{files: map[string]remembered{}, used: map[string]bool{}} }

// recall returns what was found in the file when it last had this content.
func (m *Memory) recall(file File) (remembered, bool) {
	if m == nil || file.ID == "" {
		return remembered{}, false
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.used[file.Path] = true
	found, known := m.files[file.Path]
	return found, known && found.ID == file.ID
}

// keep remembers what was found.
func (m *Memory) keep(file File, found remembered) {
	if m == nil || file.ID == "" {
		return
	}
	found.ID = file.ID
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.used[file.Path] = true
	m.files[file.Path] = found
}

// maxMemory bounds a memory that is read back, in bytes.
const maxMemory = 256 << 20

// WriteTo writes the memory, without the files that nobody asked about since it
// was read: they are gone.
func (m *Memory) WriteTo(w io.Writer) (int64, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	kept := make(map[string]remembered, len(m.used))
	for path := range m.used {
		if found, known := m.files[path]; known {
			kept[path] = found
		}
	}
	if err := gob.NewEncoder(w).Encode(kept); err != nil {
		return 0, fmt.Errorf("write what was found: %w", err)
	}
	return 0, nil
}

// ReadMemory reads what WriteTo wrote. What is damaged is as good as nothing.
func ReadMemory(r io.Reader) *Memory {
	m := NewMemory()
	if err := gob.NewDecoder(io.LimitReader(r, maxMemory)).Decode(&m.files); err != nil {
		return NewMemory()
	}
	return m
}

// replay adds what was found before.
func (i *Inventory) replay(file File, r remembered, found *finding) {
	for _, d := range r.Declared {
		i.sources.declare(file.Path, sourceKey{d.Kind, d.Namespace, d.Name}, d.URL)
	}
	found.references = append(found.references, r.References...)
	found.refusals = append(found.refusals, r.Refusals...)
	found.notes = append(found.notes, r.Notes...)
}

// remember keeps what the analysis of a file found.
// A file that could not be read is asked again.
func (i *Inventory) remember(file File, a analysis, references []edit.Reference) {
	if a.stream == nil && len(a.refusals) > 0 {
		return
	}
	i.updater.options.Memory.keep(file, remembered{
		References: slices.Clone(references), Refusals: a.refusals, Notes: a.notes, Declared: a.declared,
	})
}
