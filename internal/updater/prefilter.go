package updater

import "bytes"

// prefilter says quickly which contents cannot hold a followed name.
type prefilter struct {
	everything bool
	literals   [][]byte
}

// newPrefilter makes a filter out of a follower's literals. Marks and the kinds
// that shapes need of other files always pass.
func newPrefilter(literals []string, shapes *shapeSet) prefilter {
	if len(literals) == 0 {
		return prefilter{everything: true}
	}
	p := prefilter{literals: [][]byte{[]byte(markOwn), []byte(markFlux)}}
	for _, shape := range shapes.all {
		for _, literal := range shape.literals {
			p.literals = append(p.literals, []byte(literal))
		}
	}
	for _, literal := range literals {
		p.literals = append(p.literals, []byte(literal))
	}
	return p
}

// pass says whether the content may hold a followed name.
func (p *prefilter) pass(content []byte) bool {
	if p.everything {
		return true
	}
	for _, literal := range p.literals {
		if bytes.Contains(content, literal) {
			return true
		}
	}
	return false
}
