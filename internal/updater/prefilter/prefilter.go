// Package prefilter reports, without parsing, which files cannot contain a
// reference: by their names, and by the literals that every file with a reference
// contains. It also detects content that must not reach a YAML parser.
package prefilter

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Filter is a fast check for files that cannot contain a reference.
type Filter struct {
	byName     map[string]Kind
	everything bool     // no content is excluded
	few        [][]byte // searched one by one
	many       *gramTable
}

// fewLiterals is the number of literals up to which a linear search is faster
// than one table for all of them. Measured on small manifests.
const fewLiterals = 8

// New returns a filter for content that contains at least one of the literals.
// Without literals, and with an empty one, any content may contain a reference.
func New(literals []string) *Filter {
	f := &Filter{byName: byName(), everything: len(literals) == 0}
	var long [][]byte
	for _, literal := range literals {
		switch {
		case literal == "":
			f.everything = true
		case len(literals) > fewLiterals && len(literal) >= gramSize:
			long = append(long, []byte(literal))
		default:
			f.few = append(f.few, []byte(literal))
		}
	}
	if len(long) > 0 {
		f.many = newGramTable(long)
	}
	return f
}

// Match reports whether the content may contain a reference.
func (f *Filter) Match(content []byte) bool {
	if f.everything {
		return true
	}
	for _, literal := range f.few {
		if bytes.Contains(content, literal) {
			return true
		}
	}
	return f.many != nil && f.many.in(content)
}

// Positions returns the offsets of all literals in the content, in its order.
func (f *Filter) Positions(content []byte) []int {
	var found []int
	for _, literal := range f.few {
		for at := 0; ; at++ {
			next := bytes.Index(content[at:], literal)
			if next < 0 {
				break
			}
			at += next
			found = append(found, at)
		}
	}
	if f.many != nil {
		found = f.many.positions(content, found)
	}
	slices.Sort(found)
	return found
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

// positions adds the offsets of the literals in the content.
func (t *gramTable) positions(content []byte, found []int) []int {
	for i := 0; i+gramSize <= len(content); i++ {
		piece := binary.LittleEndian.Uint32(content[i:])
		if hash := hashPiece(piece); t.seen[hash/64]&(1<<(hash%64)) == 0 {
			continue
		}
		for _, g := range t.literals[piece] {
			if start := i - g.offset; start >= 0 && bytes.HasPrefix(content[start:], g.literal) {
				found = append(found, start)
			}
		}
	}
	return found
}
