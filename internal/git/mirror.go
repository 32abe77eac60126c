// Package git keeps bare, shallow copies of remote repositories: a Mirror fetches
// branches, reads and writes their objects, and pushes new commits, without a
// working tree. A Checkout reads the branches of a user's local clone.
//
// The packages below do the rest: object reads and writes trees and commits, wire
// speaks the Git protocol.
package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/atomicfile"
	"promoter/internal/fault"
	"promoter/internal/git/object"
	"promoter/internal/git/wire"
)

// Options are the remote and the limits of a Mirror.
type Options struct {
	Remote wire.Remote
	// BlobLimit is the size of the largest blob that is fetched, if the server can
	// leave out larger ones. Zero: 1 MiB.
	BlobLimit int64
	// PackLimit is the size of the largest pack. Zero: 512 MiB.
	PackLimit int64
	// DiskLimit is how much all packs may need on disk. Zero: 2 GiB.
	DiskLimit int64
	// ObjectLimit is the size of the largest object, at most 32 MiB. Zero: 32 MiB.
	ObjectLimit int64
	// Attempts is how often an incomplete fetch is made in total, each time into an
	// empty mirror. Zero: 2.
	Attempts int
	// Memory keeps what the mirror reads of its files for the next time that it is opened in the process. Nil:
	// it is read again.
	Memory *Memory
}

func (o Options) withDefaults() Options {
	if o.BlobLimit <= 0 {
		o.BlobLimit = 1 << 20
	}
	if o.PackLimit <= 0 {
		o.PackLimit = 512 << 20
	}
	if o.DiskLimit <= 0 {
		o.DiskLimit = 2 << 30
	}
	if o.ObjectLimit <= 0 || o.ObjectLimit > object.MaxSize {
		o.ObjectLimit = object.MaxSize
	}
	if o.Attempts <= 0 {
		o.Attempts = 2
	}
	return o
}

// Mirror is a bare copy of some branches of a remote. A lock keeps other processes
// out. It is not safe for concurrent use.
type Mirror struct {
	// Objects reads and writes the objects of the mirror. What it writes is kept in
	// memory until it is pushed.
	Objects *object.Store

	dir      string
	options  Options
	endpoint wire.Endpoint
	lock     io.Closer
	packs    *packStorage
	cache    *object.Cache // of Objects
	state    *mirrorState
	fresh    bool     // it had no objects when it was opened
	listing  *listing // nil: not listed, or outdated
}

// Open opens the mirror in a directory, or creates it. It replaces a mirror that is
// damaged or of another remote: a mirror contains nothing that the remote does not
// have. It waits while another process uses the mirror, and fails with Temporary if
// the context ends first.
func Open(ctx context.Context, dir string, options Options) (*Mirror, error) {
	endpoint, err := wire.Parse(options.Remote)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of a mirror: %w", err)
	}
	lock, err := lockDirectory(ctx, dir)
	if err != nil {
		return nil, err
	}
	_, _ = lock.WriteAt([]byte("\n"), 0) // its time is when the mirror was opened last; a full disk does not matter
	m := &Mirror{dir: dir, options: options.withDefaults(), endpoint: endpoint, lock: lock, state: &mirrorState{}}
	removeLeftovers(dir)
	m.packs = openStorage(dir, m.state, m.options.PackLimit)
	m.cache = object.NewCache()
	if packs, err := m.packs.list(); err == nil {
		if kept, same := options.Memory.take(dir, packs); same {
			m.packs.files = kept.files
			m.packs.objects = kept.objects
			m.cache = kept.cache
		}
	}
	m.Objects = object.New(m.packs, m.TooLarge, m.cache)
	if !m.load() {
		if err := m.reset(); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
	}
	return m, nil
}

// maxBoundary is how many commits may end the history of a mirror, in addition to
// one for each branch. Each branch that was deleted leaves one behind, and each is
// sent in every session, so at some point a new mirror is cheaper.
const maxBoundary = 2000

// load reads the state of the mirror and reports whether the mirror is usable: of
// this version, of this remote, and not damaged.
func (m *Mirror) load() bool {
	state, err := readState(m.dir)
	if err != nil || state.Version != stateVersion || state.URL != m.endpoint.String() || state.BlobLimit != m.options.BlobLimit ||
		state.Damaged || len(state.Shallow) > maxBoundary+len(state.Branches) {
		return false
	}
	*m.state = state
	if room, err := m.packs.room(m.options.DiskLimit); err != nil || room < 0 || m.packs.check() != nil {
		return false
	}
	for _, id := range state.Branches {
		if !m.Objects.Has(id) {
			return false
		}
	}
	return true
}

// reset empties the mirror. It keeps other files in its directory.
func (m *Mirror) reset() error {
	_ = m.packs.files.Close() // its files are removed
	m.cache.Clear()
	for _, name := range []string{"objects", stateFile} {
		if err := os.RemoveAll(filepath.Join(m.dir, name)); err != nil {
			return fmt.Errorf("empty a mirror: %w", err)
		}
	}
	*m.state = mirrorState{
		Version: stateVersion, URL: m.endpoint.String(), BlobLimit: m.options.BlobLimit,
		Branches: map[string]object.ID{}, Since: map[string]time.Time{},
	}
	m.fresh = true
	*m.packs = *openStorage(m.dir, m.state, m.options.PackLimit)
	if err := m.packs.files.Init(); err != nil {
		return fmt.Errorf("create a mirror: %w", err)
	}
	return m.state.write(m.dir)
}

// removeLeftovers removes the temporary files of a process that was killed.
func removeLeftovers(dir string) {
	_ = atomicfile.Sweep(filepath.Join(dir, stateFile)) // tried again the next time
	removeMatching(dir, incomingPack+"*")
	removeMatching(dir, unfinishedPack)
	removeMatching(dir, unfinishedIndex)
}

// Damage returns why what was read is no statement about the remote: a file of the mirror was changed by a disk or another
// program. The mirror is replaced when it is opened the next time. Nil: nothing is known. What a mirror lacks that was empty
// when it was opened is what the remote did not send.
func (m *Mirror) Damage() error {
	if m.fresh && errors.Is(m.packs.damage, object.ErrMissing) {
		return nil
	}
	return m.packs.damage
}

// Close releases the files of the mirror and its lock.
func (m *Mirror) Close() error {
	var saving error
	if (m.packs.full || m.Damage() != nil) && !m.state.Damaged {
		m.state.Damaged = true
		saving = m.state.write(m.dir)
	}
	err := errors.Join(saving, m.packs.close())
	if err == nil && !m.state.Damaged && !m.packs.partial {
		m.remember()
	}
	if err := errors.Join(err, m.lock.Close()); err != nil {
		return fmt.Errorf("close the mirror of %s: %w", m.endpoint, err)
	}
	return nil
}

// remember keeps what was read of the files, for the next time. The lock is still held.
func (m *Mirror) remember() {
	if len(m.packs.pending.objects) > 0 { // they are dropped, and may have been read
		m.cache.Clear()
	}
	if packs, err := m.packs.list(); err == nil { // the same as in the indexes: no other process had the lock
		m.options.Memory.keep(m.dir, remembered{packs: packs, files: m.packs.files, objects: m.packs.objects, cache: m.cache})
	}
	m.options.Memory = nil // it has another owner now
}

// Remove deletes the mirror in a directory, if there is one. Like Open, it waits
// while another process uses the mirror.
func Remove(ctx context.Context, dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := lockDirectory(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove a mirror: %w", err)
	}
	return nil
}

// Have returns the commit of a branch as it was last fetched or pushed.
func (m *Mirror) Have(branch string) (object.ID, bool) {
	id, ok := m.state.Branches[branch]
	return id, ok
}

// TooLarge reports whether the server left out the blob because of its size.
func (m *Mirror) TooLarge(blob object.ID) bool { return slices.Contains(m.state.TooLarge, blob) }

// checkBranch refuses invalid names of branches.
func checkBranch(name string) error {
	if err := plumbing.NewBranchReferenceName(name).Validate(); err != nil || name == "" {
		return fault.New(fault.Invalid, "%.100q is not a valid branch name", name)
	}
	return nil
}
