package updater

import (
	"bytes"
	"encoding/binary"
)

// prefilter says quickly which contents cannot hold a followed name.
type prefilter struct {
	everything bool
	few        [][]byte // searched one after another
	many       *gramTable
}

// fewLiterals is how many literals are searched one after another before a table
// for all of them is faster. Measured on small manifests.
const fewLiterals = 8

// newPrefilter makes a filter out of a follower's literals. Marks and the kinds
// that shapes need of other files always pass.
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

// pass says whether the content may hold a followed name.
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

// gramSize is the length of the pieces by which the table finds literals.
const gramSize = 4

// gramTable finds any of many literals in one pass: each is known by its rarest
// piece of four bytes, and only where one of those stands is anything compared.
type gramTable struct {
	seen     [1 << 16 / 64]uint64 // bits of the pieces' hashes
	literals map[uint32][]gram
}

// gram is a literal and where its piece stands in it.
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

// in says whether one of the literals stands in the content.
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
