package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/atomicfile"
	"promoter/internal/fault"
)

// The defaults of Options: bytes, and how often a mirror is built.
const (
	defaultBlobLimit   = 1 << 20
	defaultPackLimit   = 512 << 20
	defaultObjectLimit = maxObject
	defaultAttempts    = 2
)

// Options say what a Mirror mirrors, and how much of it.
type Options struct {
	Remote Remote
	// BlobLimit is the size of the largest file that is of interest: larger blobs
	// are not fetched where the remote can leave them out. Zero: 1 MiB.
	BlobLimit int64
	// PackLimit is the size of the largest pack that is taken. Zero: 512 MiB.
	PackLimit int64
	// ObjectLimit is the size of the largest object that is taken, at most 32 MiB.
	// Zero: 32 MiB.
	ObjectLimit int64
	// Attempts is how often a fetch that arrives incomplete is made in all, each
	// time into an empty mirror. Zero: two.
	Attempts int
}

func (o Options) withDefaults() Options {
	if o.BlobLimit <= 0 {
		o.BlobLimit = defaultBlobLimit
	}
	if o.PackLimit <= 0 {
		o.PackLimit = defaultPackLimit
	}
	if o.ObjectLimit <= 0 || o.ObjectLimit > defaultObjectLimit {
		o.ObjectLimit = defaultObjectLimit
	}
	if o.Attempts <= 0 {
		o.Attempts = defaultAttempts
	}
	return o
}

// Mirror is a bare copy of some branches of one remote, for one user at a time:
// it belongs to the lane of its repository. A lock keeps other processes out.
type Mirror struct {
	objects
	dir     string
	options Options
	remote  address
	lock    io.Closer
	disk    *disk
	state   *state
}

// Open opens the mirror in dir, or makes one there. A mirror that is damaged,
// and one of another remote, is dropped and made anew: it holds nothing that the
// remote does not have. It waits for another process that uses the mirror until
// the context ends, which is a Temporary fault then.
func Open(ctx context.Context, dir string, options Options) (*Mirror, error) {
	remote, err := parseAddress(options.Remote)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of a mirror: %w", err)
	}
	lock, err := lockFolder(ctx, dir)
	if err != nil {
		return nil, err
	}
	m := &Mirror{dir: dir, options: options.withDefaults(), remote: remote, lock: lock}
	m.objects.tooLarge = m.TooLarge
	if err := m.load(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return m, nil
}

// load reads what is in the folder, or drops it when it is of no use.
func (m *Mirror) load() error {
	m.sweep()
	if state, err := readState(m.dir); err == nil && m.fits(state) {
		m.use(state)
		if m.intact() {
			return nil
		}
	}
	return m.drop()
}

// maxBoundary is how many commits end the history of a mirror, beside one for each
// branch. Every branch that comes and goes leaves one, and each is named in every
// session, so that a new mirror is cheaper at some time.
const maxBoundary = 2000

// fits says that the state is of use: made by this release, for this remote.
func (m *Mirror) fits(s *state) bool {
	return s.Version == stateVersion && s.URL == m.remote.String() && s.BlobLimit == m.options.BlobLimit &&
		!s.Damaged && len(s.Shallow) <= maxBoundary+len(s.Branches)
}

// use makes the state, and the objects in the folder, those of the mirror.
func (m *Mirror) use(s *state) {
	m.state = s
	m.disk = openDisk(m.dir, s, m.options.PackLimit)
	m.objects.store = m.disk
}

// intact looks whether the packs are whole and hold the branches.
func (m *Mirror) intact() bool {
	if wholePacks(m.dir) != nil {
		return false
	}
	for _, id := range m.state.Branches {
		if m.disk.HasEncodedObject(plumbing.Hash(id)) != nil {
			return false
		}
	}
	return true
}

// drop empties the mirror. Files of others in its folder stay.
func (m *Mirror) drop() error {
	if m.disk != nil {
		_ = m.disk.Close() // its files go now
	}
	for _, name := range []string{"objects", stateFile} {
		if err := os.RemoveAll(filepath.Join(m.dir, name)); err != nil {
			return fmt.Errorf("drop a mirror: %w", err)
		}
	}
	m.use(&state{Version: stateVersion, URL: m.remote.String(), BlobLimit: m.options.BlobLimit, Branches: map[string]ID{}})
	if err := m.disk.Init(); err != nil {
		return fmt.Errorf("make a mirror: %w", err)
	}
	return m.save()
}

// sweep removes what a process that was killed left behind.
func (m *Mirror) sweep() {
	_ = atomicfile.Sweep(filepath.Join(m.dir, stateFile)) // tried again the next time
	for _, pattern := range []string{incomingPack + "*", unfinishedPack} {
		removeAll(m.dir, pattern)
	}
}

// removeAll removes the files of a folder that match.
func removeAll(dir, pattern string) {
	left, _ := filepath.Glob(filepath.Join(dir, pattern)) // fails for a bad pattern only
	for _, name := range left {
		_ = os.Remove(name) // tried again the next time
	}
}

// Close lets go of the mirror's files and of its lock.
func (m *Mirror) Close() error {
	var saving error
	if m.disk.damaged && !m.state.Damaged {
		m.state.Damaged = true
		saving = m.save()
	}
	if err := errors.Join(saving, m.disk.Close(), m.lock.Close()); err != nil {
		return fmt.Errorf("close the mirror of %s: %w", m.remote, err)
	}
	return nil
}

// Have returns the commit of a branch as it was last fetched or pushed.
func (m *Mirror) Have(branch string) (ID, bool) {
	id, ok := m.state.Branches[branch]
	return id, ok
}

// TooLarge says that the remote left out the blob, because it is over the limit
// of blobs.
func (m *Mirror) TooLarge(blob ID) bool { return slices.Contains(m.state.TooLarge, blob) }

// save writes down what the mirror holds.
func (m *Mirror) save() error {
	if err := writeState(m.dir, m.state); err != nil {
		return fmt.Errorf("write the state of a mirror: %w", err)
	}
	return nil
}

// checkBranch refuses what is no name of a branch.
func checkBranch(name string) error {
	if err := plumbing.NewBranchReferenceName(name).Validate(); err != nil || name == "" {
		return fault.New(fault.Invalid, "%.100q is no name of a branch", name)
	}
	return nil
}
