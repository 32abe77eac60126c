package updater

import (
	"bytes"
	"encoding/binary"
)

// prefilter is a fast check for content that cannot contain a followed name.
type prefilter struct {
	everything bool
	few        [][]byte // searched one by one
	many       *gramTable
}

// fewLiterals is the number of literals up to which a linear search is faster
// than one table for all of them. Measured on small manifests.
const fewLiterals = 8

// newPrefilter builds a filter from a follower's literals. Markers, and the
// kinds that shapes need from other files, always pass.
func newPrefilter(literals []string, shapes *shapeSet) prefilter {
	if len(literals) == 0 {
		return prefilter{everything: true}
	}
	all := append([]string{markOwn, markFlux}, literals...)
	for _, shape := range shapes.all {
		all = append(all, shape.literals...)
	}
	var p prefilter
	var long [][]byte
	for _, literal := range all {
		switch {
		case literal == "":
			return prefilter{everything: true}
		case len(all) > fewLiterals && len(literal) >= gramSize:
			long = append(long, []byte(literal))
		default:
			p.few = append(p.few, []byte(literal))
		}
	}
	if len(long) > 0 {
		p.many = newGramTable(long)
	}
	return p
}

// pass reports whether the content may contain a followed name.
func (p *prefilter) pass(content []byte) bool {
	if p.everything {
		return true
	}
	for _, literal := range p.few {
		if bytes.Contains(content, literal) {
			return true
		}
	}
	return p.many != nil && p.many.in(content)
}

// gramSize is the length of the byte sequences that the table uses to find
// literals.
const gramSize = 4

// gramTable finds any of many literals in one scan. Each literal is indexed by
// its rarest four-byte sequence, and literals are compared only where that
// sequence occurs.
type gramTable struct {
	seen     [1 << 16 / 64]uint64 // bits of the sequence hashes
	literals map[uint32][]gram
}

// gram is a literal and the offset of its indexed sequence.
type gram struct {
	literal []byte
	offset  int
}

func newGramTable(literals [][]byte) *gramTable {
	t := &gramTable{literals: map[uint32][]gram{}}
	counts := map[uint32]int{}
	for _, literal := range literals {
		for i := 0; i+gramSize <= len(literal); i++ {
			counts[binary.LittleEndian.Uint32(literal[i:])]++
		}
	}
	for _, literal := range literals {
		offset := 0
		for i := 1; i+gramSize <= len(literal); i++ {
			if counts[binary.LittleEndian.Uint32(literal[i:])] < counts[binary.LittleEndian.Uint32(literal[offset:])] {
				offset = i
			}
		}
		piece := binary.LittleEndian.Uint32(literal[offset:])
		t.literals[piece] = append(t.literals[piece], gram{literal, offset})
		hash := hashPiece(piece)
		t.seen[hash/64] |= 1 << (hash % 64)
	}
	return t
}

// hashPiece maps four bytes to sixteen bits, by Knuth's multiplicative method.
func hashPiece(piece uint32) uint32 { return piece * 2654435761 >> 16 }

// in reports whether the content contains one of the literals.
func (t *gramTable) in(content []byte) bool {
	for i := 0; i+gramSize <= len(content); i++ {
		piece := binary.LittleEndian.Uint32(content[i:])
		if hash := hashPiece(piece); t.seen[hash/64]&(1<<(hash%64)) == 0 {
			continue
		}
		for _, g := range t.literals[piece] {
			if start := i - g.offset; start >= 0 && bytes.HasPrefix(content[start:], g.literal) {
				return true
			}
		}
	}
	return false
}
