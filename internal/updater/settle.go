package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/image"
)

// settle completes the search in a file: it turns markers into sites and drops
// sites on ignored lines.
func (f *finder) settle() {
	for i, mark := range f.marked {
		component, found := f.owners[mark.scalar.node]
		switch {
		case !found:
			f.addMarked(i)
		case component != mark.component:
			f.refuseAt(mark.scalar, mark.component,
				"the mark names "+mark.component+" and the value is of "+component)
		}
	}
	f.dropIgnored()
}

// addMarked adds the site of a marked scalar, including the digest marked next
// to it.
func (f *finder) addMarked(i int) {
	mark := f.marked[i]
	s := site{shape: shapeMarker, followed: mark.followed}
	switch p := mark.part(); {
	case p.spells == spellsDigest || p.spells == spellsHex:
		if j := f.sibling(i, isTagMark); j >= 0 {
			return // the tag's marker creates the site for both
		}
		s.digest = p
	default:
		s.tag = p
		if j := f.sibling(i, isDigestMark); j >= 0 && p.spells == spellsTag {
			s.digest = f.marked[j].part()
		}
	}
	for _, p := range s.parts() {
		if problem := p.problem(); problem != "" {
			f.refuseAt(p.scalar, mark.component, problem)
			return
		}
	}
	f.sites = append(f.sites, s)
}

// sibling returns the index of the matching other marker of the same mapping
// and component, or -1. It checks only the nearest markers, because a list may
// have any number of them.
func (f *finder) sibling(i int, fits func(marked) bool) int {
	const near = 8
	mark := f.marked[i]
	for j := max(0, i-near); j < min(len(f.marked), i+near+1); j++ {
		other := f.marked[j]
		if j != i && mark.mapping != nil && other.mapping == mark.mapping &&
			other.component == mark.component && fits(other) {
			return j
		}
	}
	return -1
}

func isTagMark(m marked) bool { return m.part().spells == spellsTag }

func isDigestMark(m marked) bool {
	p := m.part()
	return p.spells == spellsDigest || p.spells == spellsHex
}

// part returns how a marked scalar spells its share of the version: as the
// marker specifies, otherwise as the value suggests.
func (m marked) part() *part {
	value := m.scalar.value()
	switch m.field {
	case fieldTag:
		return &part{scalar: m.scalar, spells: spellsTag}
	case fieldVersion:
		return &part{scalar: m.scalar, spells: spellsVersion}
	case fieldDigest:
		return digestPart(m.scalar)
	}
	before, name, after := cutReference(value)
	reference, err := image.Parse(name)
	switch {
	case image.ValidDigest(value):
		return digestPart(m.scalar)
	case err == nil && (reference.Tag != "" || reference.Digest != ""):
		return &part{scalar: m.scalar, spells: spellsReference, before: before, after: after, name: reference.Name}
	case m.followed.Artifact == image.ArtifactChart:
		return &part{scalar: m.scalar, spells: spellsChart}
	default:
		return &part{scalar: m.scalar, spells: spellsTag}
	}
}

// dropIgnored drops the sites that have a scalar on an ignored line.
func (f *finder) dropIgnored() {
	kept := f.sites[:0]
	for _, s := range f.sites {
		ignored := false
		for _, p := range s.parts() {
			ignored = ignored || p.scalar.stream.ignores(p.scalar.node)
		}
		if !ignored {
			kept = append(kept, s)
		}
	}
	f.sites = kept
}

// ignores reports whether a comment on the node's line excludes it from
// changes. For a block scalar, the comment follows the indicator, because its
// text has no comments.
func (s *stream) ignores(n *yaml.Node) bool {
	if !s.marks {
		return false
	}
	at, err := s.offset(n.Line, n.Column)
	if err != nil {
		return false
	}
	if n.Kind == yaml.ScalarNode && !(scalar{s, n}).isBlock() {
		if found, err := s.span(n); err == nil {
			at = found.end
		}
	}
	return ignoresLine(string(s.data[at:s.lineEnd(at)]))
}

// ignoresLine reports whether the rest of a line ends in a comment that
// excludes the line from changes.
func ignoresLine(rest string) bool {
	at := strings.LastIndexByte(rest, '#')
	if at < 0 || at > 0 && !isBlank(rest[at-1]) {
		return false
	}
	m, found := parseMarker(strings.TrimSpace(rest[at+1:]))
	return found && m.ignore
}
