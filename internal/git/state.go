package git

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"promoter/internal/atomicfile"
	"promoter/internal/git/object"
)

const (
	// stateFile describes the objects beside it. It is used in place of references
	// and a shallow file because it can be replaced in one step.
	stateFile = "state.json"

	// stateVersion changes when existing mirrors must be replaced.
	stateVersion = 1

	// maxState is the largest state file that is read, in bytes.
	maxState = 64 << 20
)

// mirrorState is what a mirror knows beside its objects.
type mirrorState struct {
	Version   int                  `json:"version"`
	URL       string               `json:"url"`
	BlobLimit int64                `json:"blobLimit"`
	Branches  map[string]object.ID `json:"branches"`
	Shallow   []object.ID          `json:"shallow,omitempty"`  // commits whose parents are not stored
	TooLarge  []object.ID          `json:"tooLarge,omitempty"` // blobs that the server left out
	Since     map[string]time.Time `json:"since,omitempty"`    // how far back the history of a branch is stored
	Push      pushCapabilities     `json:"push,omitzero"`
	Damaged   bool                 `json:"damaged,omitempty"` // an object could not be read, or there is no room for more
}

// pushCapabilities are what the server of a remote supports for pushes, as it advertised
// them to the last push. They save the next ones a request.
type pushCapabilities struct {
	// Server is what the same server supports for fetches. It includes its version, so
	// that another version is asked again.
	Server       string `json:"server"`
	Capabilities string `json:"capabilities"`
}

func readState(dir string) (mirrorState, error) {
	file, err := os.Open(filepath.Join(dir, stateFile))
	if err != nil {
		return mirrorState{}, err
	}
	content, err := io.ReadAll(io.LimitReader(file, maxState))
	if err := errors.Join(err, file.Close()); err != nil {
		return mirrorState{}, err
	}
	s := mirrorState{}
	if err := json.Unmarshal(content, &s); err != nil {
		return mirrorState{}, fmt.Errorf("decode the state: %w", err)
	}
	if s.Branches == nil {
		s.Branches = map[string]object.ID{}
	}
	if s.Since == nil {
		s.Since = map[string]time.Time{}
	}
	return s, nil
}

// write replaces the state file.
func (s *mirrorState) write(dir string) error {
	content, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = atomicfile.Replace(filepath.Join(dir, stateFile), content)
	}
	if err != nil {
		return fmt.Errorf("write the state of a mirror: %w", err)
	}
	return nil
}

// heads returns the commits of all branches.
func (s *mirrorState) heads() []object.ID { return slices.Collect(maps.Values(s.Branches)) }

// record moves the requested branches to where they are on the remote, and returns
// them. It removes all branches that the remote does not have anymore.
func (s *mirrorState) record(refs Refs, branches []string) map[string]object.ID {
	stored := s.heads()
	found := map[string]object.ID{}
	for _, branch := range branches {
		id, exists := refs.Branches[branch]
		if !exists {
			continue
		}
		found[branch] = id
		if s.Branches[branch] != id && slices.Contains(stored, id) {
			delete(s.Since, branch) // that was the history of another commit
		}
		s.set(branch, id)
	}
	for branch := range s.Branches {
		if _, exists := refs.Branches[branch]; !exists {
			s.set(branch, object.ID{})
		}
	}
	return found
}

// set moves a branch to a commit; the zero ID removes the branch.
func (s *mirrorState) set(branch string, id object.ID) {
	if id.IsZero() {
		delete(s.Branches, branch)
		delete(s.Since, branch)
		return
	}
	s.Branches[branch] = id
}
