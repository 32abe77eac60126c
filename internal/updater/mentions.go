package updater

import (
	"bytes"
	"slices"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/mention"
	"promoter/internal/updater/prefilter"
	"promoter/internal/updater/shapes"
)

// mentionsIn returns the names of followed repositories in a file that the analysis of it does not explain. A
// file that was not read for the analysis is read now, unless it is of a kind that has no text. content is what
// was read.
func (u *Updater) mentionsIn(file File, content []byte, a analysis) (found edit.Mentions) {
	if u.mentions == nil || file.Mode != Regular || file.Read == nil || a.isWhollyRefused() {
		return edit.Mentions{}
	}
	if content == nil {
		if u.filter.Kind(file.Path) != prefilter.Other || file.Size > u.options.MaxFileSize || !u.options.Mentions(file.Path) {
			return edit.Mentions{}
		}
		read, err := file.Read()
		if err != nil {
			return edit.Mentions{} // nothing is edited there
		}
		content = read
	}
	if int64(len(content)) > u.options.MaxFileSize || !u.mentions.Match(content) || isBinary(content) {
		return edit.Mentions{}
	}
	mirrors := map[image.Repository]image.Repository{} // the followed ones, by their mirrors
	follow := func(repository image.Repository) (string, bool) {
		followed, ok := u.follower.Follow(file.Path, repository)
		if ok && !followed.Mirror.IsZero() {
			mirrors[repository] = followed.Repository
		}
		return followed.Component, ok
	}
	if shapes.IsForeignFile(file.Path) {
		return edit.Mentions{} // it configures another tool, which needs no version
	}
	prose := prefilter.IsProse(file.Path)
	known := a.explained(file.Path)
	foreign := mention.Documents(content, foreignGroups())
	for _, o := range u.mentions.Find(content, follow) {
		one := edit.Mention{
			Component: o.Component, Position: edit.Position{File: file.Path, Line: o.Line, Column: o.Column},
			Text: o.Text, Repository: o.Repository, Bare: !o.Versioned, Prose: prose || o.Comment,
		}
		if followed, mirrored := mirrors[o.Repository]; mirrored {
			one.Repository, one.Mirror = followed, o.Repository
		}
		if one.Bare && one.Prose || known.has(one) || foreign.Has(o.Line) {
			continue
		}
		found.Listed = append(found.Listed, one)
	}
	if len(found.Listed) == 0 || !u.options.Mentions(file.Path) {
		return edit.Mentions{}
	}
	var limited edit.Mentions
	limited.Add(found)
	return limited
}

// binaryPrefix is how much of a file is searched for a zero byte, as Git does.
const binaryPrefix = 8000

func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), binaryPrefix)], 0) >= 0
}

// isWhollyRefused reports whether the file is refused as a whole.
func (a analysis) isWhollyRefused() bool {
	return slices.ContainsFunc(a.found.Refusals, func(r edit.Refusal) bool { return r.Whole })
}

// explained is what the analysis of a file found on each of its lines. A file may have any number of names and references.
type explained struct {
	lines     map[int]bool              // noted, or refused as a whole
	versions  map[shapes.Inspected]bool // edited or refused
	inspected map[shapes.Inspected]bool // known to need no version
}

func (a analysis) explained(file string) explained {
	e := explained{map[int]bool{}, map[shapes.Inspected]bool{}, a.found.Inspected}
	for i := range a.found.Sites {
		s := &a.found.Sites[i]
		for _, part := range s.Parts() {
			e.versions[shapes.Inspected{Line: part.Scalar.Position(file).Line, Component: s.Followed.Component}] = true
		}
	}
	for _, r := range a.found.Refusals {
		if r.Component == "" {
			e.lines[r.Line] = true
		}
		e.versions[shapes.Inspected{Line: r.Line, Component: r.Component}] = true
	}
	for _, n := range a.found.Notes {
		e.lines[n.Line] = true
	}
	return e
}

// has reports whether a mention is of a line that is edited, refused, or noted, or known to need no version.
func (e explained) has(m edit.Mention) bool {
	at := shapes.Inspected{Line: m.Line, Component: m.Component}
	return e.lines[m.Line] || e.versions[at] || m.Bare && e.inspected[at]
}

// foreignGroups are the API groups of objects that name images only to configure other tools, or policies.
func foreignGroups() [][]byte {
	groups := [][]byte{[]byte("kyverno.io/"), []byte("policy.sigstore.dev/")} // with policies.kyverno.io/
	for _, group := range shapes.ForeignGroups() {
		groups = append(groups, []byte(group+"/"))
	}
	return groups
}
