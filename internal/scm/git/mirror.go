package git

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"promoter/internal/fault"
)

// The limits of Options, in bytes, and how often a mirror is built.
const (
	defaultBlobLimit   = 1 << 20
	defaultPackLimit   = 512 << 20
	defaultObjectLimit = 32 << 20
	defaultAttempts    = 2
)

// objectCache is how many bytes of objects a mirror keeps in memory.
const objectCache = 16 << 20

// Options say what a Mirror mirrors, and how much of it.
type Options struct {
	Remote Remote
	// BlobLimit is the size of the largest file that is of interest: larger blobs
	// are not fetched where the remote can leave them out. Zero: 1 MiB.
	BlobLimit int64
	// PackLimit is the size of the largest pack that is taken. Zero: 512 MiB.
	PackLimit int64
	// ObjectLimit is the size of the largest object that is taken. Zero: 32 MiB.
	ObjectLimit int64
	// Attempts is how often a fetch that arrives incomplete is made in all, each
	// time into an empty mirror. Zero: two.
	Attempts int
}

// Mirror is a bare copy of some branches of one remote, for one user at a time:
// it belongs to the lane of its repository.
type Mirror struct {
	*objects
	dir     string
	options Options
	storage *filesystem.Storage
}

// Open opens the mirror in dir, or makes one there. A mirror that cannot be
// read, and one of another remote, is dropped and made anew: it holds nothing
// that the remote does not have.
func Open(ctx context.Context, dir string, options Options) (*Mirror, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the mirror: %w", err)
	}
	m := &Mirror{dir: dir, options: options}
	m.storage = filesystem.NewStorage(osfs.New(dir, osfs.WithBoundOS()), cache.NewObjectLRU(objectCache))
	m.objects = &objects{store: m.storage, tooLarge: m.TooLarge}
	return m, nil
}

// Close lets go of the mirror's files.
func (m *Mirror) Close() error { return nil }

// Have returns the commit of a branch as it was last fetched or pushed.
func (m *Mirror) Have(branch string) (ID, bool) {
	reference, err := m.storage.Reference(plumbing.NewBranchReferenceName(branch))
	if err != nil {
		return ID{}, false
	}
	return ID(reference.Hash()), true
}

// TooLarge says that the remote left out the blob, because it is over the
// limit of blobs.
func (m *Mirror) TooLarge(blob ID) bool { return false }

// List asks the remote for its branches: one request, nothing is fetched.
func (m *Mirror) List(ctx context.Context) (Refs, error) {
	return Refs{}, fault.New(fault.Internal, "not implemented")
}

// Fetch brings the branches into the mirror and returns their commits. A branch
// that the remote does not have is absent. A branch that the mirror does not
// have is fetched at depth 1, others with the history since.
func (m *Mirror) Fetch(ctx context.Context, branches ...string) (map[string]ID, error) {
	return nil, fault.New(fault.Internal, "not implemented")
}

// Deepen brings the history of a fetched branch into the mirror, back to the
// given time.
func (m *Mirror) Deepen(ctx context.Context, branch string, since time.Time) error {
	return fault.New(fault.Internal, "not implemented")
}
