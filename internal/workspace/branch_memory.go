package workspace

import (
	"encoding/json"
	"fmt"
	"os"

	"promoter/internal/atomicfile"
)

// branchMemory is a file beside the mirror, which has the commits. It implements
// engine.BranchMemory.
type branchMemory struct{ file string }

// Last implements engine.BranchMemory.
func (m branchMemory) Last() map[string]string {
	var heads map[string]string
	text, err := os.ReadFile(m.file)
	if err != nil || json.Unmarshal(text, &heads) != nil { // there is none yet
		return nil
	}
	return heads
}

// Remember implements engine.BranchMemory.
func (m branchMemory) Remember(heads map[string]string) error {
	text, err := json.Marshal(heads)
	if err == nil {
		err = atomicfile.Replace(m.file, text)
	}
	if err != nil {
		return fmt.Errorf("remember the branches: %w", err)
	}
	return nil
}
