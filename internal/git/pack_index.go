package git

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"promoter/internal/fault"
)

// A pack is a header with the number of its objects, the objects one after the other, and the SHA-1 of all
// of it. Each object has a kind, a size, and its content, compressed with zlib. A pack does not contain the
// IDs of its objects: they are hashes of the contents, so that an index can only be made by unpacking all.
//
// The content of a delta is a list of instructions that make an object from another one, its base. A delta
// names its base by the distance in the pack or by the hash, and the base may be a delta too. So a delta can
// only be hashed after its base, and one base may have thousands of deltas.
//
// A pack comes from a remote, which may be hostile: a few kilobytes can stand for gigabytes. All limits below
// are checked before anything is unpacked into memory.
const (
	// maxPackObjects is how many objects a pack may contain. Each takes about 250
	// bytes of memory while the pack is indexed, and as few as a dozen in the pack.
	maxPackObjects = 1_000_000

	// maxUnpacked is how many bytes the objects of a pack may unpack to in total, where a delta counts
	// with its own size. It bounds the time that one pack takes, not the memory.
	maxUnpacked = 16 << 30

	// maxDeltas is how many deltas may follow each other, as in Git.
	maxDeltas = 4095
)

// indexPack reads a pack and returns its index and the number of its objects. It refuses the pack
// if an object exceeds the limit, whether whole or as the result of a delta.
//
// The pack is read once, and what deltas are made from a second time. go-git's parser
// unpacks each object up to three times, and without a limit, so that a check had to come first:
// the two took longer than all else in the first fetch of a repository.
func indexPack(pack io.ReadSeeker, objectLimit int64) (*idxfile.Writer, uint32, error) {
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return nil, 0, fmt.Errorf("read a pack: %w", err)
	}
	x := packIndexer{
		pack:        packfile.NewScanner(pack),
		objectLimit: objectLimit,
		byBase:      map[int][]int{},
		byBaseHash:  map[plumbing.Hash][]int{},
	}
	checksum, err := x.readObjects()
	if err == nil {
		err = x.resolveDeltas()
	}
	if err != nil {
		return nil, 0, err
	}
	count := uint32(len(x.objects)) //nolint:gosec // at most maxPackObjects
	index := new(idxfile.Writer)
	err = index.OnHeader(count)
	for _, object := range x.objects {
		index.Add(object.hash, uint64(object.offset), object.crc) //nolint:gosec // an offset is not negative
	}
	if err = errors.Join(err, index.OnFooter(checksum)); err != nil {
		return nil, 0, fmt.Errorf("index a pack: %w", err)
	}
	return index, count, nil
}

// packIndexer finds the hashes of the objects of a pack.
type packIndexer struct {
	pack        *packfile.Scanner
	objectLimit int64
	objects     []packedObject          // in the order of the pack
	byBase      map[int][]int           // deltas by their base
	byBaseHash  map[plumbing.Hash][]int // deltas that name their base by its hash
	bases       *cache.BufferLRU        // contents of bases, by their offsets
}

// packedObject is one object of a pack.
type packedObject struct {
	offset int64
	crc    uint32
	kind   plumbing.ObjectType
	delta  bool
	base   int           // of a delta, once it is known
	deltas int           // from which it is made
	hash   plumbing.Hash // zero: a delta that is not resolved yet
}

// readObjects reads the pack from its beginning to its end, and returns its checksum. It unpacks
// nothing into memory.
func (x *packIndexer) readObjects() (plumbing.Hash, error) {
	_, count, err := x.pack.Header()
	if err != nil {
		return plumbing.ZeroHash, malformed(err)
	}
	if count > maxPackObjects {
		return plumbing.ZeroHash, fault.New(fault.Invalid, "the pack contains %d objects, over the limit of %d", count, maxPackObjects)
	}
	unpacked := int64(0)
	hasher := plumbing.NewHasher(plumbing.BlobObject, 0)
	for range count {
		header, err := x.pack.NextObjectHeader()
		if err != nil {
			return plumbing.ZeroHash, malformed(err)
		}
		if header.Length < 0 || header.Length > x.objectLimit {
			return plumbing.ZeroHash, tooLarge(uint64(max(header.Length, 0)), x.objectLimit)
		}
		object := packedObject{offset: header.Offset, kind: header.Type}
		switch header.Type {
		case plumbing.OFSDeltaObject, plumbing.REFDeltaObject:
			err = x.readDelta(&object, header)
		case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
			hasher.Reset()
			_, _ = fmt.Fprintf(hasher, "%s %d\x00", header.Type, header.Length) // a hash never fails
			object.crc, err = x.readContent(header, hasher)
			object.hash = hasher.Sum()
		default:
			err = malformed(fmt.Errorf("an object has the type %d", header.Type))
		}
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if unpacked += header.Length; unpacked > maxUnpacked {
			return plumbing.ZeroHash, fault.New(fault.Invalid, "the pack unpacks to more than %d bytes", int64(maxUnpacked))
		}
		x.objects = append(x.objects, object)
	}
	checksum, err := x.pack.Checksum()
	if err != nil {
		return plumbing.ZeroHash, malformed(err)
	}
	return checksum, nil
}

// readContent reads what an object, or a delta, has in the pack.
func (x *packIndexer) readContent(header *packfile.ObjectHeader, to io.Writer) (crc uint32, err error) {
	written, crc, err := x.pack.NextObject(to)
	if err == nil && written != header.Length {
		err = fmt.Errorf("an object of %d bytes has %d", header.Length, written)
	}
	if err != nil {
		return 0, malformed(err)
	}
	return crc, nil
}

// readDelta reads the next object, a delta, and notes its base.
func (x *packIndexer) readDelta(object *packedObject, header *packfile.ObjectHeader) (err error) {
	object.delta = true
	if header.Type == plumbing.REFDeltaObject {
		x.byBaseHash[header.Reference] = append(x.byBaseHash[header.Reference], len(x.objects))
	} else {
		byOffset := func(o packedObject, offset int64) int { return cmp.Compare(o.offset, offset) }
		base, found := slices.BinarySearchFunc(x.objects, header.OffsetReference, byOffset)
		if !found {
			return malformed(errors.New("a delta has no base"))
		}
		x.byBase[base] = append(x.byBase[base], len(x.objects))
	}
	var prefix prefixWriter
	if object.crc, err = x.readContent(header, &prefix); err != nil {
		return err
	}
	result, err := prefix.deltaResult()
	switch {
	case err != nil:
		return malformed(err)
	case result > uint64(x.objectLimit): //nolint:gosec // it is not negative
		return tooLarge(result, x.objectLimit)
	}
	return nil
}

// resolveDeltas finds the hashes of the deltas, those of one base after those of the other, so
// that few bases are in memory.
func (x *packIndexer) resolveDeltas() error {
	x.bases = cache.NewBufferLRUDefault()
	var bases []int
	for i, object := range x.objects {
		if !object.delta && len(x.deltasOf(i)) > 0 {
			bases = append(bases, i)
		}
	}
	for len(bases) > 0 {
		i := bases[len(bases)-1]
		bases = bases[:len(bases)-1]
		content, err := x.content(i)
		if err != nil {
			return err
		}
		for _, d := range x.deltasOf(i) {
			delta := &x.objects[d]
			if !delta.hash.IsZero() { // the pack has the base twice
				continue
			}
			delta.kind = x.objects[i].kind
			delta.base = i
			delta.deltas = x.objects[i].deltas + 1
			if delta.deltas > maxDeltas {
				return malformed(fmt.Errorf("more than %d deltas follow each other", maxDeltas))
			}
			made, err := x.patch(content, d)
			if err != nil {
				return err
			}
			delta.hash = plumbing.ComputeHash(delta.kind, made)
			if len(x.deltasOf(d)) > 0 {
				x.bases.Put(delta.offset, made)
				bases = append(bases, d)
			}
		}
	}
	if slices.ContainsFunc(x.objects, func(o packedObject) bool { return o.hash.IsZero() }) {
		return malformed(errors.New("a delta has no base"))
	}
	return nil
}

// deltasOf returns the deltas whose base is an object.
func (x *packIndexer) deltasOf(i int) []int {
	byHash := x.byBaseHash[x.objects[i].hash]
	if len(byHash) == 0 {
		return x.byBase[i]
	}
	return slices.Concat(x.byBase[i], byHash)
}

// content returns what an object contains whose hash is known.
func (x *packIndexer) content(i int) ([]byte, error) {
	var chain []int // deltas, the last one first
	content, kept := x.bases.Get(x.objects[i].offset)
	for !kept && x.objects[i].delta {
		chain = append(chain, i)
		i = x.objects[i].base
		content, kept = x.bases.Get(x.objects[i].offset)
	}
	var err error
	if !kept {
		if content, err = x.unpack(i); err != nil {
			return nil, err
		}
	}
	for _, d := range slices.Backward(chain) {
		if content, err = x.patch(content, d); err != nil {
			return nil, err
		}
	}
	return content, nil
}

// patch returns what a delta makes from the content of its base.
func (x *packIndexer) patch(base []byte, d int) ([]byte, error) {
	delta, err := x.unpack(d)
	if err != nil {
		return nil, err
	}
	made, err := packfile.PatchDelta(base, delta)
	if err != nil {
		return nil, malformed(err)
	}
	return made, nil
}

// unpack reads what an object, or a delta, has in the pack.
func (x *packIndexer) unpack(i int) ([]byte, error) {
	header, err := x.pack.SeekObjectHeader(x.objects[i].offset)
	if err != nil {
		return nil, malformed(err)
	}
	content := bytes.NewBuffer(make([]byte, 0, header.Length)) // readObjects checked the length
	if _, err := x.readContent(header, content); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
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
