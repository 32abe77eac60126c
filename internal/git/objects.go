package git

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"promoter/internal/fault"
)

// ErrTooLarge says that a blob was left on the server because it is over the
// limit for files, so that it cannot be read here.
var ErrTooLarge = errors.New("too large to be fetched")

// maxObject is the size in bytes up to which a commit or a tree is read, and any
// object written: the cap on a single object of a fetch.
const maxObject = 32 << 20

// store is where objects lie, with the boundary of a shallow history.
type store interface {
	storer.EncodedObjectStorer
	storer.ShallowStorer
}

// objects reads and writes the objects of one repository: commits, trees and
// blobs, by their ids. A mirror is one that can also talk to its server. It is
// not for use by several goroutines at once, as the store below is not.
type objects struct {
	store    store
	tooLarge func(blob ID) bool // whether a missing blob was left on the server for its size; nil: none was
}

// errMissing says that an object is not here. Whether that is a fault of who
// asked or of the repository is for the caller to say.
var errMissing = errors.New("it is not here")

// errTooDeep says that folders lie deeper in each other than maxDepth.
var errTooDeep = fault.New(fault.Invalid, "folders lie deeper than %d", maxDepth)

// encoded finds an object. A commit or a tree over maxObject is an Invalid fault; of
// a blob the caller reads as much as it wants.
func (o *objects) encoded(kind plumbing.ObjectType, id ID) (plumbing.EncodedObject, error) {
	found, err := o.store.EncodedObject(kind, plumbing.Hash(id))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		err = errMissing
	}
	if err != nil {
		return nil, fmt.Errorf("read the %s %s: %w", kind, id, err)
	}
	if kind != plumbing.BlobObject && found.Size() > maxObject {
		return nil, fault.New(fault.Invalid, "the %s %s has more than %d bytes", kind, id, maxObject)
	}
	return found, nil
}

// read returns the content of an object, at most limit bytes of it.
func (o *objects) read(kind plumbing.ObjectType, id ID, limit int64) (string, error) {
	encoded, err := o.encoded(kind, id)
	if err != nil {
		return "", err
	}
	content, err := contentOf(encoded, min(limit, encoded.Size()))
	if err != nil {
		return "", fmt.Errorf("read the %s %s: %w", kind, id, err)
	}
	return content, nil
}

// contentOf returns the first size bytes of an object.
func contentOf(encoded plumbing.EncodedObject, size int64) (string, error) {
	reader, err := encoded.Reader()
	if err != nil {
		return "", err //nolint:wrapcheck // the caller names the object
	}
	var content strings.Builder
	content.Grow(int(size))
	_, err = io.CopyN(&content, reader, size)
	return content.String(), errors.Join(err, reader.Close())
}

// write stores an object, unless it is here, and returns its id.
func (o *objects) write(kind plumbing.ObjectType, content []byte) (ID, error) {
	if len(content) > maxObject {
		return ID{}, fault.New(fault.Invalid, "a %s of %d bytes is over the limit of %d", kind, len(content), maxObject)
	}
	encoded := &plumbing.MemoryObject{}
	encoded.SetType(kind)
	if _, err := encoded.Write(content); err != nil {
		return ID{}, fmt.Errorf("write a %s: %w", kind, err)
	}
	id := ID(encoded.Hash())
	if o.store.HasEncodedObject(encoded.Hash()) == nil {
		return id, nil
	}
	if _, err := o.store.SetEncodedObject(encoded); err != nil {
		return ID{}, fmt.Errorf("write the %s %s: %w", kind, id, err)
	}
	return id, nil
}
