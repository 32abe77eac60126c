package updater

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/shapes"
	"promoter/internal/updater/site"
	"promoter/internal/updater/span"
)

// Result is the result of rewriting a file.
type Result struct {
	Content  []byte // nil if unchanged
	Changes  []edit.Change
	Refusals []edit.Refusal // of this rewrite; those of the scan are in the inventory
	Notes    []edit.Note
}

// Rewrite updates the references in a file to the wanted versions. A component
// for which wanted returns false is not changed. If one reference in a file is
// refused, the others are still rewritten; the caller decides whether a refusal
// is fatal.
func (i *Inventory) Rewrite(ctx context.Context, file File, wanted func(component string) (image.Version, bool)) Result {
	return i.RewriteOwn(ctx, file, wanted, nil)
}

// RewriteOwn is Rewrite without the references whose tags are of other lines of versions than the
// component.
func (i *Inventory) RewriteOwn(
	ctx context.Context, file File, wanted func(component string) (image.Version, bool), foreign func(component, tag string) bool,
) Result {
	if ctx.Err() != nil {
		return Result{Refusals: []edit.Refusal{{File: file.Path, Reason: context.Cause(ctx).Error()}}}
	}
	r := rewriter{
		updater: i.updater, foreign: foreign, file: file.Path, known: i.sources, analysis: i.updater.analyze(file, i.sources),
	}
	if r.analysis.stream == nil {
		return Result{}
	}
	if planned := r.join(r.planAll(wanted)); len(planned) > 0 {
		r.apply(planned)
	}
	return r.result
}

// rewriter rewrites one file.
type rewriter struct {
	updater  *Updater
	foreign  func(component, tag string) bool // nil: nothing is
	file     string                           // path
	known    shapes.Sources
	analysis analysis
	result   Result
}

// planAll plans the changes of all sites.
func (r *rewriter) planAll(wanted func(string) (image.Version, bool)) []site.Planned {
	var all []site.Planned
	signed := site.IsSigned(r.analysis.stream.Documents)
	for i := range r.analysis.found.Sites {
		s := &r.analysis.found.Sites[i]
		version, found := wanted(s.Followed.Component)
		tag, _ := s.Current()
		if !found || !s.Marked && r.foreign != nil && r.foreign(s.Followed.Component, tag) {
			continue
		}
		changes, err := site.Plan(s, version, signed)
		if err != nil {
			r.refuse(s, err)
			continue
		}
		all = append(all, changes...)
	}
	return r.withoutOtherReaders(all)
}

// withoutOtherReaders refuses the changes of values that are also the versions of components that keep theirs: one that shares
// a value gets every version of the others.
func (r *rewriter) withoutOtherReaders(plans []site.Planned) []site.Planned {
	type value struct { // or a part of one
		node          *yaml.Node
		before, after string
	}
	type changed struct {
		value
		component string
	}
	changes, readers := map[changed]bool{}, map[value][]string{}
	valueOf := func(p site.Planned) value {
		for _, part := range p.Site.Parts() {
			if part.Scalar.Node == p.Change.Scalar.Node {
				return value{part.Scalar.Node, part.Before, part.After}
			}
		}
		return value{}
	}
	for _, p := range plans {
		changes[changed{valueOf(p), p.Site.Followed.Component}] = true
	}
	for i := range r.analysis.found.Sites {
		s := &r.analysis.found.Sites[i]
		for _, part := range s.Parts() {
			at := value{part.Scalar.Node, part.Before, part.After}
			if component := s.Followed.Component; part.Create == "" && !slices.Contains(readers[at], component) {
				readers[at] = append(readers[at], component)
			}
		}
	}
	return slices.DeleteFunc(plans, func(p site.Planned) bool {
		at := valueOf(p)
		kept := slices.DeleteFunc(slices.Clone(readers[at]), func(component string) bool { return changes[changed{at, component}] })
		if !p.Change.Sets() || len(kept) == 0 {
			return false
		}
		r.refuse(p.Site, fmt.Errorf("the value is also the version of %s, which would not get the same version: "+
			"give each a value of its own, or the same version", strings.Join(kept, " and ")))
		return true
	})
}

// join sorts the changes and merges those of sites that share a scalar: equal ones, and those of
// different parts of it. If two components require different text in the same location, both
// are refused, and nothing is changed.
func (r *rewriter) join(plans []site.Planned) []site.Planned {
	slices.SortStableFunc(plans, func(a, b site.Planned) int { return cmp.Compare(a.Bytes.Span.Start, b.Bytes.Span.Start) })
	var joined []site.Planned
	for _, p := range plans {
		last := len(joined) - 1
		switch {
		case last < 0 || joined[last].Bytes.Span != p.Bytes.Span:
			joined = append(joined, p)
		case joined[last].Bytes.Text == p.Bytes.Text:
		case joined[last].Merge(p):
		default:
			err := fmt.Errorf("%s and %s share this value and want different ones",
				joined[last].Site.Followed.Component, p.Site.Followed.Component)
			r.refuse(p.Site, err)
			r.refuse(joined[last].Site, err)
			return nil
		}
	}
	return joined
}

// apply replaces the bytes and proves the result.
func (r *rewriter) apply(plans []site.Planned) {
	changes := make([]span.Change, len(plans))
	replacements := make([]span.Replacement, len(plans))
	for i, p := range plans {
		changes[i], replacements[i] = p.Change, p.Bytes
	}
	stream := r.analysis.stream
	content, err := r.proven(changes, replacements)
	if err != nil {
		r.refuse(plans[0].Site, err)
		return
	}
	r.result.Content = content
	for _, p := range plans {
		for _, s := range append([]*site.Site{p.Site}, p.Merged...) {
			r.result.Changes = append(r.result.Changes, edit.Change{
				Component: s.Followed.Component,
				Shape:     s.Shape,
				Position:  stream.Position(r.file, p.Bytes.Span.Start),
				From:      string(stream.Data[p.Bytes.Span.Start:p.Bytes.Span.End]),
				To:        p.Bytes.Text,
			})
		}
	}
	for _, alias := range span.Aliases(changes) {
		name := lex.Shorten(alias.Node.Value)
		r.result.Notes = append(r.result.Notes, edit.Note{
			Position: alias.Position(r.file),
			Text:     fmt.Sprintf("*%s changes along with its anchor &%s in line %d", name, name, alias.Node.Alias.Line),
		})
	}
}

// proven returns the content after the replacements, if it proves that they make the changes.
func (r *rewriter) proven(changes []span.Change, replacements []span.Replacement) ([]byte, error) {
	content, err := span.Splice(r.analysis.stream.Data, replacements)
	if err != nil {
		return nil, err
	}
	if r.analysis.template {
		return content, r.proveTemplate(content, changes)
	}
	if err := span.Prove(r.analysis.stream, changes, content); err != nil || !r.analysis.stream.IsText() {
		return content, err
	}
	again := r.updater.analyzeContent(File{Path: r.file}, content, r.known).found
	if len(again.Sites) != len(r.analysis.found.Sites) || len(again.Refusals) != len(r.analysis.found.Refusals) {
		return nil, errOtherReferences // such as an expression that matches no more
	}
	return content, nil
}

var errOtherReferences = errors.New("the result would have other references than the file")

// proveTemplate proves a template by analyzing it again: the same lines must be
// whole references with the intended values, and no line may still name the old version
// of an image that changed.
func (r *rewriter) proveTemplate(content []byte, changes []span.Change) error {
	again := r.updater.findInTemplate(r.file, content)
	if len(again.found.Sites) != len(r.analysis.found.Sites) || len(again.found.Refusals) != len(r.analysis.found.Refusals) {
		return errOtherReferences
	}
	left := map[edit.Reference]bool{}
	for i := range r.analysis.found.Sites {
		old, now := r.analysis.found.Sites[i].Tag.Scalar, again.found.Sites[i].Tag.Scalar
		want := old.Value()
		for _, c := range changes {
			if c.Scalar == old {
				want = c.Value
			}
		}
		if now.Value() != want || now.Node.Line != old.Node.Line {
			return fmt.Errorf("the value at line %d would not be the requested text", old.Node.Line)
		}
		was, is := r.analysis.found.Sites[i].Version(), again.found.Sites[i].Version()
		if was.Tag != is.Tag {
			left[edit.Reference{Repository: was.Repository, Tag: was.Tag}] = true
		}
		if was.Digest != is.Digest {
			left[edit.Reference{Repository: was.Repository, Digest: was.Digest}] = true
		}
	}
	return r.proveNoneLeft(again.stream, left)
}

// proveNoneLeft returns an error if a line of a template that is not text names one of the
// versions, which have a tag or a digest.
func (r *rewriter) proveNoneLeft(s *span.Stream, left map[edit.Reference]bool) error {
	for number, line := range shapes.TemplateLines(s) {
		if line.IsText() {
			continue
		}
		for _, word := range lex.Words(line.Text) {
			_, name, _ := lex.CutReference(word)
			reference, err := image.Parse(name)
			if err != nil {
				continue
			}
			followed, found := r.updater.follower.Follow(r.file, reference.Repository)
			if !found || !followed.Numeric && lex.IsAddress(reference) {
				continue
			}
			hasTag := reference.Tag != "" && left[edit.Reference{Repository: followed.Repository, Tag: reference.Tag}]
			hasDigest := reference.Digest != "" && left[edit.Reference{Repository: followed.Repository, Digest: reference.Digest}]
			if hasTag || hasDigest {
				return fmt.Errorf("line %d would still name %s; change it by hand, or keep the version in the values", number+1, word)
			}
		}
	}
	return nil
}

func (r *rewriter) refuse(s *site.Site, err error) {
	r.result.Refusals = append(r.result.Refusals, edit.Refusal{
		File:      r.file,
		Line:      s.First().Scalar.Position(r.file).Line,
		Component: s.Followed.Component,
		Reason:    err.Error(),
	})
}
