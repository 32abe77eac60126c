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

const (
	// maxPackObjects is how many objects a pack may contain. Each takes about 450
	// bytes of memory while the pack is indexed, and as few as a dozen in the pack.
	maxPackObjects = 1_000_000

	// maxUnpacked is how many bytes the objects of a pack may unpack to in total,
	// where a delta counts with its own size.
	maxUnpacked = 16 << 30
)

// checkPack reads a pack once and refuses it if an object exceeds the limit, whether
// whole or as the result of a delta. It unpacks nothing into memory, which go-git
// would do without a limit. It returns the number of objects.
func checkPack(pack io.ReadSeeker, objectLimit int64) (uint32, error) {
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return 0, fmt.Errorf("read a pack: %w", err)
	}
	scanner := packfile.NewScanner(pack)
	_, count, err := scanner.Header()
	if err != nil {
		return 0, malformed(err)
	}
	if count > maxPackObjects {
		return 0, fault.New(fault.Invalid, "the pack contains %d objects, over the limit of %d", count, maxPackObjects)
	}
	unpacked := int64(0)
	for range count {
		header, err := scanner.NextObjectHeader()
		if err != nil {
			return 0, malformed(err)
		}
		if header.Length < 0 || header.Length > objectLimit {
			return 0, tooLarge(uint64(max(header.Length, 0)), objectLimit)
		}
		var prefix prefixWriter
		if _, _, err := scanner.NextObject(&prefix); err != nil {
			return 0, malformed(err)
		}
		if header.Type == plumbing.OFSDeltaObject || header.Type == plumbing.REFDeltaObject {
			result, err := prefix.deltaResult()
			if err != nil {
				return 0, malformed(err)
			}
			if result > uint64(objectLimit) {
				return 0, tooLarge(result, objectLimit)
			}
		}
		if unpacked += header.Length; unpacked > maxUnpacked {
			return 0, fault.New(fault.Invalid, "the pack unpacks to more than %d bytes", int64(maxUnpacked))
		}
	}
	return count, nil
}

// malformed marks a pack that cannot be read. A new one may be better.
func malformed(err error) error {
	return fmt.Errorf("%w: the pack is malformed: %w", errIncomplete, err)
}

func tooLarge(size uint64, limit int64) error {
	return fault.New(fault.Invalid, "the repository contains an object of %d bytes, over the limit of %d", size, limit)
}

// prefixWriter keeps the first bytes that are written to it: enough for the two
// sizes at the start of a delta.
type prefixWriter struct {
	bytes [2 * binary.MaxVarintLen64]byte
	size  int
}

// Write never fails.
func (w *prefixWriter) Write(p []byte) (int, error) {
	w.size += copy(w.bytes[w.size:], p)
	return len(p), nil
}

// deltaResult returns the size of the object that a delta makes: the second number,
// after the size of its base.
func (w *prefixWriter) deltaResult() (uint64, error) {
	prefix := w.bytes[:w.size]
	_, base := binary.Uvarint(prefix)
	if base > 0 {
		if size, n := binary.Uvarint(prefix[base:]); n > 0 {
			return size, nil
		}
	}
	return 0, errors.New("a delta has no size")
}
