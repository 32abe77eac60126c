// Package object reads and writes Git objects: blobs, trees, and commits. It walks
// and compares trees, writes commits that change some files of their parent, and
// parses commit trailers. It never needs a working tree and knows no remotes.
//
// Repositories are untrusted input. Sizes, depths, and counts are limited, and file
// names that no Git client would write are refused.
package object

import (
	"crypto/sha1" //nolint:gosec // what Git uses
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/fault"
)

// MaxSize is the largest commit or tree that is read, and the largest object that
// is written, in bytes.
const MaxSize = 32 << 20

var (
	// ErrMissing reports that an object is not stored. The caller decides whether
	// that is an invalid argument or an incomplete repository.
	ErrMissing = errors.New("object not found")

	// ErrTooLarge reports that a blob was not fetched because it exceeds the limit
	// on file sizes.
	ErrTooLarge = errors.New("too large to be fetched")

	// ErrDamaged reports that the storage returned something else than the object with that ID: a disk, or
	// another program, changed its files. It says nothing about the repository. Its kind is Temporary.
	ErrDamaged = errors.New("the local copy of the repository is damaged")
)

// Storage holds the objects of one repository and the boundary of its shallow
// history. go-git's storages implement it.
type Storage interface {
	EncodedObject(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error)
	HasEncodedObject(hash plumbing.Hash) error
	SetEncodedObject(encoded plumbing.EncodedObject) (plumbing.Hash, error)
	Shallow() ([]plumbing.Hash, error)
}

// damageable is a Storage that is notified of what is damaged in it, so that it can be replaced: an object that is not what its ID
// says, or a tree or blob that is missing although something that is stored names it.
type damageable interface {
	Damaged(err error)
}

// Store reads and writes the objects of one repository. Like the storage below it,
// it is not safe for concurrent use.
type Store struct {
	encoded  encodedObjects
	tooLarge func(blob ID) bool
}

// New returns a Store of the storage. tooLarge reports whether a missing blob was
// left on the server because of its size; nil means that no blob was. The cache is of the same
// storage.
func New(storage Storage, tooLarge func(blob ID) bool, cache *Cache) *Store {
	if tooLarge == nil {
		tooLarge = func(ID) bool { return false }
	}
	return &Store{encoded: encodedObjects{storage: storage, cache: cache}, tooLarge: tooLarge}
}

// Has reports whether an object is stored.
func (s *Store) Has(id ID) bool { return s.encoded.has(id) }

// boundary returns the commits at which the shallow history ends.
func (s *Store) boundary() (map[ID]bool, error) {
	shallow, err := s.encoded.storage.Shallow()
	if err != nil {
		return nil, fmt.Errorf("read the shallow boundary: %w", err)
	}
	ids := make(map[ID]bool, len(shallow))
	for _, hash := range shallow {
		ids[ID(hash)] = true
	}
	return ids, nil
}

// encodedObjects reads and writes single objects as Git encodes them, and does not follow how
// they name each other. The cache spares it most reads of commits and large trees.
type encodedObjects struct {
	storage Storage
	cache   *Cache
}

func (o encodedObjects) has(id ID) bool { return o.storage.HasEncodedObject(plumbing.Hash(id)) == nil }

// read returns the first limit bytes of an object. It verifies the ID of all of it.
func (o encodedObjects) read(kind plumbing.ObjectType, id ID, limit int64) ([]byte, error) {
	encoded, err := o.open(kind, id)
	if err != nil {
		return nil, err
	}
	reader, err := encoded.Reader()
	if err != nil {
		return nil, o.damaged(kind, id, err)
	}
	content := make([]byte, min(limit, encoded.Size()))
	sum := sha1.New() //nolint:gosec // what Git uses
	_, _ = fmt.Fprintf(sum, "%s %d\x00", kind, encoded.Size())
	_, err = io.ReadFull(reader, content)
	_, _ = sum.Write(content)
	if err == nil {
		_, err = io.Copy(sum, reader) // what is over the limit
	}
	if err = errors.Join(err, reader.Close()); err != nil {
		return nil, o.damaged(kind, id, err)
	}
	if actual := ID(sum.Sum(nil)); actual != id {
		return nil, o.damaged(kind, id, fmt.Errorf("its content has the ID %s", actual))
	}
	return content, nil
}

// damaged returns the error about an object that cannot be read.
func (o encodedObjects) damaged(kind plumbing.ObjectType, id ID, err error) error {
	err = fault.Wrap(fault.Temporary, fmt.Errorf("read the %s %s: %w: %w", kind, id, ErrDamaged, err))
	o.report(err)
	return err
}

func (o encodedObjects) report(err error) {
	if storage, ok := o.storage.(damageable); ok {
		storage.Damaged(err)
	}
}

// open returns an object that is not decoded yet. Commits and trees that exceed
// MaxSize are refused; of a blob, the caller reads as much as it needs.
func (o encodedObjects) open(kind plumbing.ObjectType, id ID) (plumbing.EncodedObject, error) {
	found, err := o.storage.EncodedObject(kind, plumbing.Hash(id))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, o.missing(kind, id)
	}
	if err != nil {
		return nil, o.damaged(kind, id, err)
	}
	if kind != plumbing.BlobObject && found.Size() > MaxSize {
		return nil, fault.New(fault.Invalid, "the %s %s has more than %d bytes", kind, id, MaxSize)
	}
	return found, nil
}

// missing returns the error about an object that is not stored as one of a kind. Users can write trees that name
// an object of another kind.
func (o encodedObjects) missing(kind plumbing.ObjectType, id ID) error {
	other, err := o.storage.EncodedObject(plumbing.AnyObject, plumbing.Hash(id))
	if err != nil {
		return fmt.Errorf("read the %s %s: %w", kind, id, ErrMissing)
	}
	if _, err := o.read(other.Type(), id, 0); err != nil {
		return err
	}
	if kind == plumbing.CommitObject {
		return fault.New(fault.NotFound, "read the commit %s: it is a %s", id, other.Type())
	}
	return fault.New(fault.Invalid, "read the %s %s: it is a %s", kind, id, other.Type())
}

// write stores an object, unless it is stored already, and returns its ID.
func (o encodedObjects) write(kind plumbing.ObjectType, content []byte) (ID, error) {
	if len(content) > MaxSize {
		return ID{}, fault.New(fault.Invalid, "a %s of %d bytes exceeds the limit of %d", kind, len(content), MaxSize)
	}
	encoded := &plumbing.MemoryObject{}
	encoded.SetType(kind)
	if _, err := encoded.Write(content); err != nil {
		return ID{}, fmt.Errorf("write a %s: %w", kind, err)
	}
	id := ID(encoded.Hash())
	if o.has(id) {
		return id, nil
	}
	if _, err := o.storage.SetEncodedObject(encoded); err != nil {
		return ID{}, fmt.Errorf("write the %s %s: %w", kind, id, err)
	}
	return id, nil
}
