package updater

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/prefilter"
	"promoter/internal/updater/shapes"
	"promoter/internal/updater/site"
	"promoter/internal/updater/span"
)

// analysis is the result of analyzing one file.
type analysis struct {
	found    shapes.Findings
	held     []edit.Hold
	stream   *span.Stream // nil if the file was not read
	template bool         // the stream has lines but no documents
	parsed   int          // bytes that were parsed
}

// references returns the current references of a file.
func (a analysis) references(file string) []edit.Reference {
	sites := a.found.Sites
	signed := len(sites) > 0 && site.IsSigned(a.stream.Documents)
	references := make([]edit.Reference, 0, len(sites))
	for i := range sites {
		references = append(references, sites[i].Reference(file, signed))
	}
	return references
}

// analyze reads a file, parses it if it may contain a reference, and runs the
// shapes on it.
func (u *Updater) analyze(file File, known shapes.Sources) analysis {
	content, refusal := u.read(file)
	if refusal != nil {
		return refused(*refusal)
	}
	if content == nil {
		return analysis{}
	}
	a := u.analyzeContent(file, content, known)
	if file.Mode == Symlink {
		a = a.ofLink(file)
	}
	a.parsed = len(content)
	return a
}

// ofLink returns the analysis of a symbolic link from that of the content of its target. Only
// what would be edited or refused there keeps the link from being left unchanged: a target that
// merely contains the word changes for no version.
func (a analysis) ofLink(file File) analysis {
	const reason = "a symbolic link: change its target"
	link := analysis{found: shapes.Findings{Declared: a.found.Declared, NeedsSources: a.found.NeedsSources}}
	add := func(component string) {
		refusal := refuseFile(file, reason)
		refusal.Component, refusal.Whole = component, component == ""
		if !slices.ContainsFunc(link.found.Refusals, func(r edit.Refusal) bool { return r.Component == component }) {
			link.found.Refusals = append(link.found.Refusals, *refusal)
		}
	}
	for i := range a.found.Sites {
		add(a.found.Sites[i].Followed.Component)
	}
	for _, refusal := range a.found.Refusals {
		add(refusal.Component)
	}
	return link
}

func (u *Updater) analyzeContent(file File, content []byte, known shapes.Sources) analysis {
	kind := u.filter.Kind(file.Path)
	writes := u.writes(file.Path)
	switch {
	case kind == prefilter.Template:
		return u.findInTemplateFile(file, content, known)
	case kind == prefilter.Env:
		return u.findInText(file.Path, content, known, u.finder.FindInEnv)
	case kind == prefilter.Marked && len(writes) == 0, kind != prefilter.Unknown && kind != prefilter.Manifest && onlyExpressions(writes):
		return u.findInText(file.Path, content, known, u.finder.FindInText)
	}
	stream, err := span.Parse(content)
	// Many tools keep settings as JSON with comments, which no manifest parser reads.
	isJSON := strings.EqualFold(path.Ext(file.Path), ".json")
	switch {
	case err == nil:
		return u.find(file.Path, stream, known)
	case bytes.Contains(content, []byte("{{")):
		return u.findInTemplate(file.Path, content)
	case kind == prefilter.Manifest && isJSON && !u.mayContainReference(file.Path, content):
		return analysis{}
	case kind == prefilter.Manifest:
		return refused(refuseSyntax(file.Path, "not valid YAML: ", err))
	case onlyExpressions(writes):
		return u.findInText(file.Path, content, known, u.finder.FindInText)
	case len(writes) > 0:
		return refused(refuseSyntax(file.Path, "write: the file is neither YAML nor JSON, where only regex finds a value: ", err))
	default:
		return u.findInUnknown(file.Path, content, err)
	}
}

// onlyExpressions reports whether there are write entries, and none of them has a path.
func onlyExpressions(writes []shapes.Write) bool {
	return len(writes) > 0 && !slices.ContainsFunc(writes, func(w shapes.Write) bool { return w.Path != "" })
}

// findIn finds references in text that is not YAML.
type findIn func(file string, content []byte, writes []shapes.Write, known shapes.Sources) (shapes.Findings, *span.Stream)

func (u *Updater) findInText(file string, content []byte, known shapes.Sources, find findIn) analysis {
	found, stream := find(file, content, u.writes(file), known)
	return analysis{found: found, held: findHolds(file, stream, u.holds(file)), stream: stream}
}

func refused(refusals ...edit.Refusal) analysis {
	return analysis{found: shapes.Findings{Refusals: refusals}}
}

func (u *Updater) find(file string, stream *span.Stream, known shapes.Sources) analysis {
	found := u.finder.Find(file, stream, u.writes(file), known)
	return analysis{found: found, held: findHolds(file, stream, u.holds(file)), stream: stream}
}

// findInTemplateFile handles a file with the extension of templates. Values of Helmfile, as
// values.yaml.gotmpl, are YAML without their actions, and have the shapes of YAML.
func (u *Updater) findInTemplateFile(file File, content []byte, known shapes.Sources) analysis {
	inner := strings.TrimSuffix(file.Path, path.Ext(file.Path))
	if u.filter.Kind(inner) == prefilter.Manifest && path.Ext(file.Path) == ".gotmpl" {
		mask := span.Mask{Hide: lex.MaskActions, Rune: lex.Mask}
		if stream, err := span.ParseTemplate(content, mask); err == nil {
			return u.find(file.Path, stream, known)
		}
	}
	return u.findInTemplate(file.Path, content)
}

func (u *Updater) findInTemplate(file string, content []byte) analysis {
	stream := span.Unparsed(content)
	found := u.finder.FindInTemplate(file, stream, u.writes(file))
	return analysis{found: found, held: findHoldLines(file, stream, u.holds(file)), stream: stream, template: true}
}

// findInUnknown handles a file of unknown kind that does not parse. The file is
// refused only if it appears to contain a reference.
func (u *Updater) findInUnknown(file string, content []byte, problem error) analysis {
	var refusals []edit.Refusal
	for _, s := range u.findInTemplate(file, content).found.Sites {
		refusals = append(refusals, edit.Refusal{
			File: file, Line: s.First().Scalar.Position(file).Line, Component: s.Followed.Component,
			Reason: "the file is not valid YAML: " + problem.Error(), Whole: true,
		})
	}
	return refused(refusals...)
}

// refuseSyntax refuses a file that does not parse, at the line given at the
// start of the parser's error: "line 25: could not find expected ':'".
func refuseSyntax(file, what string, err error) edit.Refusal {
	refusal := edit.Refusal{File: file, Line: 1, Reason: what + err.Error(), Whole: true}
	target, words, found := strings.Cut(err.Error(), ": ")
	if line, problem := strconv.Atoi(strings.TrimPrefix(target, "line ")); found && problem == nil && line > 0 {
		refusal.Line, refusal.Reason = line, what+words
	}
	return refusal
}

// largestSearched is the size in bytes up to which a file over the limit is
// still searched for followed names.
const largestSearched = 32 << 20

// read returns the content of a file that must be parsed, or the reason why the
// file is left unchanged. It returns neither if the file cannot contain a
// reference.
func (u *Updater) read(file File) (content []byte, refusal *edit.Refusal) {
	if file.Mode == Submodule {
		return nil, refuseFile(file, "a submodule: promoter does not read other repositories; exclude the path")
	}
	kind := u.filter.Kind(file.Path)
	if (kind == prefilter.Other || kind == prefilter.Skipped) && len(u.writes(file.Path)) == 0 {
		return nil, nil
	}
	if file.Size > largestSearched {
		return nil, u.refuseUnread(file, kind, u.tooLarge())
	}
	if file.Read == nil {
		return nil, u.refuseUnread(file, kind, "a "+string(file.Mode)+" with an unreadable target")
	}
	content, err := file.Read()
	if err != nil {
		return nil, u.refuseUnread(file, kind, "cannot be read: "+err.Error())
	}
	return u.guard(file, kind, content)
}

// guard checks content before it is parsed.
func (u *Updater) guard(file File, kind prefilter.Kind, content []byte) ([]byte, *edit.Refusal) {
	if decoded, wide := prefilter.DecodeUTF16(content); wide {
		if !u.filter.Match(decoded) {
			return nil, nil
		}
		return nil, refuseText(file, "not UTF-8 but UTF-16: convert it")
	}
	if prefilter.IsPointer(content) {
		return nil, u.refuseUnread(file, kind, "a pointer of Git LFS: the content is not in the repository")
	}
	over := int64(len(content)) > u.options.MaxFileSize
	cut := over && int64(len(content)) == u.options.MaxFileSize+1 && file.Size != int64(len(content))
	may := u.mayMatch(file.Path, kind, content) || len(u.writes(file.Path)) > 0
	switch {
	case cut:
		return nil, u.refuseUnread(file, kind, u.tooLarge())
	case may && over && u.mayContainReference(file.Path, content):
		return nil, whole(u.refuseUnread(file, kind, u.tooLarge()))
	case !may || over:
		return nil, nil
	}
	return u.guardText(file, kind, content)
}

// mayMatch reports whether the content may contain a reference.
func (u *Updater) mayMatch(file string, kind prefilter.Kind, content []byte) bool {
	switch {
	case kind == prefilter.Marked:
		return lex.MayHaveMarkers(content)
	case path.Base(file) == ".env": // has versions of images that other files name
		return true
	default:
		return u.filter.Match(content)
	}
}

// guardText checks for content that must not reach a parser.
func (u *Updater) guardText(file File, kind prefilter.Kind, content []byte) ([]byte, *edit.Refusal) {
	if line := prefilter.ConflictLine(content); line > 0 {
		refusal := refuseText(file, "conflict markers: the merge was not finished")
		refusal.Line = line
		return nil, refusal
	}
	if bytes.IndexByte(content, 0) >= 0 || !utf8.Valid(content) {
		return nil, whole(u.refuseUnread(file, kind, "not UTF-8 text"))
	}
	return content, nil
}

func (u *Updater) tooLarge() string {
	return fmt.Sprintf("over the limit of %d bytes for one file: exclude the path or raise the limit", u.options.MaxFileSize)
}

// refuseUnread refuses a file whose content was not read if its name indicates
// manifests.
func (u *Updater) refuseUnread(file File, kind prefilter.Kind, reason string) *edit.Refusal {
	if kind != prefilter.Manifest && kind != prefilter.Template {
		return nil
	}
	return refuseFile(file, reason)
}

// refuseFile refuses a whole file. It reports the first line so that editors
// can open it there.
func refuseFile(file File, reason string) *edit.Refusal {
	return &edit.Refusal{File: file.Path, Line: 1, Reason: reason}
}

// refuseText refuses a whole file whose text is known.
func refuseText(file File, reason string) *edit.Refusal { return whole(refuseFile(file, reason)) }

// whole marks a refusal, if there is one, as that of a whole file whose text is known.
func whole(refusal *edit.Refusal) *edit.Refusal {
	if refusal != nil {
		refusal.Whole = true
	}
	return refusal
}

// MayReference reports whether a file that was refused as a whole may contain a reference to a
// component.
func MayReference(content []byte, component string, repository image.Repository) bool {
	if decoded, wide := prefilter.DecodeUTF16(content); wide {
		content = decoded
	}
	return shapes.MayFindComponent(content, component, repository)
}

// writes returns the configured locations in a file.
func (u *Updater) writes(file string) []shapes.Write {
	if u.options.Writes == nil {
		return nil
	}
	return u.options.Writes(file)
}

// largestCompared is the size in bytes up to which names in an unparsed file are
// compared. The largest CRD bundles are about 5 MiB.
const largestCompared = 8 << 20

// mayContainReference reports whether an unparsed file that contains a followed name may
// contain a reference.
func (u *Updater) mayContainReference(file string, content []byte) bool {
	return len(content) > largestCompared || len(u.writes(file)) > 0 || u.finder.MayFind(file, content)
}
