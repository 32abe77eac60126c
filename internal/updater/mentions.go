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
	prose := prefilter.IsProse(file.Path)
	for _, o := range u.mentions.Find(content, follow) {
		one := edit.Mention{
			Component: o.Component, Position: edit.Position{File: file.Path, Line: o.Line, Column: o.Column},
			Text: o.Text, Repository: o.Repository, Bare: !o.Versioned, Prose: prose || o.Comment,
		}
		if followed, mirrored := mirrors[o.Repository]; mirrored {
			one.Repository, one.Mirror = followed, o.Repository
		}
		if one.Bare && one.Prose || a.explains(one) || configuresTool(file.Path, content, o.Line) {
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

// explains reports whether a line is edited, refused, or noted, or known to need no version.
func (a analysis) explains(m edit.Mention) bool {
	for i := range a.found.Sites {
		if s := &a.found.Sites[i]; s.Followed.Component == m.Component {
			for _, part := range s.Parts() {
				if part.Scalar.Position(m.File).Line == m.Line {
					return true
				}
			}
		}
	}
	if m.Bare && a.found.Inspected[shapes.Inspected{Line: m.Line, Component: m.Component}] {
		return true
	}
	refused := slices.ContainsFunc(a.found.Refusals, func(r edit.Refusal) bool {
		return r.Line == m.Line && (r.Component == "" || r.Component == m.Component)
	})
	return refused || slices.ContainsFunc(a.found.Notes, func(n edit.Note) bool { return n.Line == m.Line })
}

// toolGroups are API groups of objects that name images only to configure other tools, or policies.
var toolGroups = [][]byte{
	[]byte("image.toolkit.fluxcd.io/"), []byte("kargo.akuity.io/"), []byte("argocd-image-updater.argoproj.io/"),
	[]byte("kyverno.io/"), []byte("policies.kyverno.io/"), []byte("policy.sigstore.dev/"),
}

// toolFiles are the beginnings of the names of files that configure bots.
var toolFiles = []string{"renovate.json", ".renovaterc", "dependabot.y"}

// configuresTool reports whether a line of a file configures another tool, which needs no version.
func configuresTool(file string, content []byte, line int) bool {
	return mention.HasName(file, toolFiles) || mention.InDocument(content, line, toolGroups)
}
