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

// maxObject is the size in bytes up to which an object is read or written: the
// cap on a single object of a fetch.
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

// read returns the content of an object: at most limit bytes of it. One over
// maxObject is an Invalid fault.
func (o *objects) read(kind plumbing.ObjectType, id ID, limit int64) (string, error) {
	encoded, err := o.store.EncodedObject(kind, plumbing.Hash(id))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		err = errMissing
	}
	if err != nil {
		return "", fmt.Errorf("read the %s %s: %w", kind, id, err)
	}
	if encoded.Size() > maxObject {
		return "", fault.New(fault.Invalid, "the %s %s has more than %d bytes", kind, id, maxObject)
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

// write stores an object and returns its id.
func (o *objects) write(kind plumbing.ObjectType, content []byte) (ID, error) {
	if len(content) > maxObject {
		return ID{}, fault.New(fault.Invalid, "a %s of %d bytes is over the limit of %d", kind, len(content), maxObject)
	}
	encoded := o.store.NewEncodedObject()
	encoded.SetType(kind)
	writer, err := encoded.Writer()
	if err != nil {
		return ID{}, fmt.Errorf("write a %s: %w", kind, err)
	}
	_, err = writer.Write(content)
	if err = errors.Join(err, writer.Close()); err != nil {
		return ID{}, fmt.Errorf("write a %s: %w", kind, err)
	}
	id, err := o.store.SetEncodedObject(encoded)
	if err != nil {
		return ID{}, fmt.Errorf("write a %s: %w", kind, err)
	}
	return ID(id), nil
}
