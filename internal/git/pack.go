package git

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"promoter/internal/fault"
)

// maxPackObjects is how many objects a pack may hold. Each costs memory while the
// pack's index is made, some 450 bytes, and takes as few as a dozen on the wire.
const maxPackObjects = 1_000_000

// maxUnpacked is how many bytes the objects of a pack may unpack to in all, as
// they stand there: deltas are small.
const maxUnpacked = 16 << 30

// inspect reads a pack once and refuses one that holds an object over the limit,
// whole or as what a delta makes, before anything is unpacked into memory. It
// returns the number of objects.
func inspect(file io.ReadSeeker, objectLimit int64) (uint32, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, fmt.Errorf("read a pack: %w", err)
	}
	scanner := packfile.NewScanner(file)
	_, count, err := scanner.Header()
	if err != nil {
		return 0, malformed(err)
	}
	if count > maxPackObjects {
		return 0, fault.New(fault.Invalid, "the pack holds %d objects, over the limit of %d", count, maxPackObjects)
	}
	left := int64(maxUnpacked)
	for range count {
		size, err := inspectObject(scanner, objectLimit)
		if err != nil {
			return 0, err
		}
		if left -= size; left < 0 {
			return 0, fault.New(fault.Invalid, "the pack unpacks to more than %d bytes", int64(maxUnpacked))
		}
	}
	return count, nil
}

// malformed marks a pack that cannot be read. A new one may be better.
func malformed(err error) error {
	return fmt.Errorf("%w: the pack is malformed: %w", errIncomplete, err)
}

// inspectObject checks the size of the next object.
func inspectObject(scanner *packfile.Scanner, limit int64) (int64, error) {
	header, err := scanner.NextObjectHeader()
	if err != nil {
		return 0, malformed(err)
	}
	if header.Length < 0 || header.Length > limit {
		return 0, overLimit(header.Length, limit)
	}
	var begin beginning
	if _, _, err := scanner.NextObject(&begin); err != nil {
		return 0, malformed(err)
	}
	if header.Type != plumbing.OFSDeltaObject && header.Type != plumbing.REFDeltaObject {
		return header.Length, nil
	}
	made, err := begin.made()
	if err != nil {
		return 0, malformed(err)
	}
	if made > uint64(limit) {
		return 0, overLimit(int64(min(made, 1<<62)), limit)
	}
	return header.Length, nil
}

func overLimit(size, limit int64) error {
	return fault.New(fault.Invalid, "the repository holds an object of %d bytes, over the limit of %d", size, limit)
}

// beginning keeps the first bytes that are written to it.
type beginning struct {
	bytes [2 * binary.MaxVarintLen64]byte
	size  int
}

// Write keeps what there is room for.
func (b *beginning) Write(p []byte) (int, error) {
	b.size += copy(b.bytes[b.size:], p)
	return len(p), nil
}

// made returns the size of what a delta makes, the second number in it. The
// first is the size of what it is made from.
func (b *beginning) made() (uint64, error) {
	head := b.bytes[:b.size]
	_, n := binary.Uvarint(head)
	if n <= 0 {
		return 0, errDelta
	}
	size, n := binary.Uvarint(head[n:])
	if n <= 0 {
		return 0, errDelta
	}
	return size, nil
}

var errDelta = errors.New("a delta says no size")
