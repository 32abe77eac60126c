package git

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// Mode is what a tree entry is.
type Mode int

// The modes of entries; folders are walked and never shown.
const (
	Regular Mode = iota
	Symlink
	Submodule
)

func modeOf(k kind) Mode {
	switch k {
	case kindSymlink:
		return Symlink
	case kindSubmodule:
		return Submodule
	default:
		return Regular
	}
}

// Entry is one file of a tree. Its content is read when it is asked for: the ID
// tells whether it is known already.
type Entry struct {
	Path string // slash separated, relative to the folder that was opened
	Mode Mode
	ID   ID // of its blob, or the commit of a submodule
	from *objects
}

// File returns an entry as a listing of a tree showed it before, without looking
// for it.
func (o *objects) File(path string, mode Mode, id ID) Entry {
	return Entry{Path: path, Mode: mode, ID: id, from: o}
}

// Read returns the content of the entry: at most limit bytes and one more, by
// which the caller sees that there are too many. A blob that a fetch left on the
// server for its size is ErrTooLarge.
func (e Entry) Read(limit int64) ([]byte, error) {
	content, err := e.from.read(plumbing.BlobObject, e.ID, limit+1)
	if errors.Is(err, errMissing) && e.from.tooLarge != nil && e.from.tooLarge(e.ID) {
		err = ErrTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("read the blob of %s: %w", shown(e.Path), err)
	}
	return []byte(content), nil
}
