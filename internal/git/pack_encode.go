package git

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // Git's own hash
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// encoder writes a pack. The library's has no way to be told what is like what: it
// writes each version of a large folder whole, or looks for likeness itself.
// https://git-scm.com/docs/pack-format
type encoder struct {
	objects *objects
	to      io.Writer // the pack and its sum
	zlib    *zlib.Writer
	depths  map[ID]int
}

// encodePack writes the objects, in their order, as a pack that stands by itself.
func (o *objects) encodePack(to io.Writer, all []parcel) error {
	sum := sha1.New() //nolint:gosec // Git's own hash
	e := &encoder{objects: o, to: io.MultiWriter(to, sum), depths: map[ID]int{}}
	// Ids do not compress, and there is little else in a tree: speed counts.
	var err error
	if e.zlib, err = zlib.NewWriterLevel(e.to, zlib.BestSpeed); err != nil {
		return err //nolint:wrapcheck // the level is a constant
	}
	if _, err := e.to.Write(packHeader(uint32(len(all)))); err != nil { //nolint:gosec // far below the limit of a pack
		return err //nolint:wrapcheck // of the writer that the caller gave
	}
	for _, p := range all {
		if err := e.object(p); err != nil {
			return fmt.Errorf("pack %s: %w", p.id, err)
		}
	}
	_, err = to.Write(sum.Sum(nil))
	return err //nolint:wrapcheck // of the writer that the caller gave
}

// packHeader is the magic word, the version and the number of objects.
func packHeader(count uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("PACK"), 2), count)
}

// maxChain is how many deltas a reader follows to one object: as many as Git makes.
const maxChain = 50

// object writes one object: whole, or as what differs from the one that it is like.
func (e *encoder) object(p parcel) error {
	encoded, err := e.objects.encoded(plumbing.AnyObject, p.id)
	if err != nil {
		return err
	}
	content, err := contentOf(encoded, encoded.Size())
	if err != nil {
		return err
	}
	if depth, here := e.depths[p.like]; here && depth < maxChain {
		base, err := e.objects.read(plumbing.AnyObject, p.like, maxObject)
		if err != nil {
			return err
		}
		if delta := deltaOf(base, content); len(delta) < len(content)/2 {
			e.depths[p.id] = depth + 1
			return e.entry(plumbing.REFDeltaObject, p.like[:], delta)
		}
	}
	e.depths[p.id] = 0
	return e.entry(encoded.Type(), nil, []byte(content))
}

// entry writes the kind and the size, what a delta is based on, and the content.
func (e *encoder) entry(kind plumbing.ObjectType, base, content []byte) error {
	size := uint64(len(content))
	head := []byte{byte(kind)<<4 | byte(size&0x0f)}
	for size >>= 4; size > 0; size >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(size&0x7f))
	}
	if _, err := e.to.Write(append(head, base...)); err != nil {
		return err //nolint:wrapcheck // of the writer that the caller gave
	}
	e.zlib.Reset(e.to)
	_, err := e.zlib.Write(content)
	return errors.Join(err, e.zlib.Close())
}

// deltaOf says how one content becomes another that differs from it in one place:
// by a copy of the beginning, what is new, and a copy of the end.
func deltaOf(base, content string) []byte {
	begin := commonBegin(base, content)
	end := commonEnd(base[begin:], content[begin:])
	delta := binary.AppendUvarint(nil, uint64(len(base)))
	delta = binary.AppendUvarint(delta, uint64(len(content)))
	delta = appendCopy(delta, 0, begin)
	for fresh := content[begin : len(content)-end]; fresh != ""; {
		part := fresh[:min(len(fresh), maxInsert)]
		delta, fresh = append(append(delta, byte(len(part))), part...), fresh[len(part):]
	}
	return appendCopy(delta, len(base)-end, end)
}

func commonBegin(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func commonEnd(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// The most that one instruction of a delta inserts, and copies here: a size of
// 0x10000 has a form of its own, which is not needed.
const (
	maxInsert = 0x7f
	maxCopy   = 0xffff
)

// appendCopy writes the instructions that copy a part of the base: which bytes of
// offset and size follow, and those.
func appendCopy(delta []byte, offset, size int) []byte {
	for size > 0 {
		part := min(size, maxCopy)
		var fields bytes.Buffer
		flags := byte(0x80)
		for i, value := range []int{offset, offset >> 8, offset >> 16, offset >> 24, part, part >> 8} {
			if b := byte(value); b != 0 {
				flags |= 1 << i
				fields.WriteByte(b)
			}
		}
		delta = append(append(delta, flags), fields.Bytes()...)
		offset, size = offset+part, size-part
	}
	return delta
}
