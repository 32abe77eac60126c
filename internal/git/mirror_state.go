package git

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"promoter/internal/atomicfile"
)

// stateFile holds the state of a mirror, beside its objects: what it holds is
// changed in one step, which references and a shallow file cannot do.
const stateFile = "state.json"

// stateVersion is raised when an older mirror is of no use.
const stateVersion = 1

// maxState bounds the state file, in bytes.
const maxState = 64 << 20

// state is what a mirror knows beside its objects.
type state struct {
	Version   int                  `json:"version"`
	URL       string               `json:"url"`
	BlobLimit int64                `json:"blobLimit"`
	Branches  map[string]ID        `json:"branches"`
	Shallow   []ID                 `json:"shallow,omitempty"`  // commits whose parents are not here
	TooLarge  []ID                 `json:"tooLarge,omitempty"` // blobs that were left out
	Since     map[string]time.Time `json:"since,omitempty"`    // branches whose history is here since then
	Damaged   bool                 `json:"damaged,omitempty"`  // an object could not be read
}

func readState(dir string) (*state, error) {
	file, err := os.Open(filepath.Join(dir, stateFile))
	if err != nil {
		return nil, err //nolint:wrapcheck // whatever it is, the mirror is made anew
	}
	content, err := io.ReadAll(io.LimitReader(file, maxState))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	s := &state{}
	if err := json.Unmarshal(content, s); err != nil {
		return nil, fmt.Errorf("decode the state: %w", err)
	}
	if s.Branches == nil {
		s.Branches = map[string]ID{}
	}
	return s, nil
}

// writeState replaces the file in one step.
func writeState(dir string, s *state) error {
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the state: %w", err)
	}
	return atomicfile.Replace(filepath.Join(dir, stateFile), content) //nolint:wrapcheck // the caller says what for
}
