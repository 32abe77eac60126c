package workspace

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"promoter/internal/atomicfile"
)

// branchMemory is a file beside the mirror, which has the commits. The lock of the mirror
// keeps others from writing it, so it is read once. It implements observe.BranchMemory.
type branchMemory struct {
	file  string
	once  sync.Once
	heads map[string]string
}

// Last implements observe.BranchMemory.
func (m *branchMemory) Last() map[string]string {
	m.once.Do(func() {
		text, err := os.ReadFile(m.file)
		if err != nil || json.Unmarshal(text, &m.heads) != nil { // there is none yet
			m.heads = nil
		}
	})
	return m.heads
}

// Remember implements observe.BranchMemory.
func (m *branchMemory) Remember(heads map[string]string) error {
	text, err := json.Marshal(heads)
	if err == nil {
		err = atomicfile.Replace(m.file, text)
	}
	if err != nil {
		return fmt.Errorf("remember the branches: %w", err)
	}
	m.once.Do(func() {})
	m.heads = heads
	return nil
}
