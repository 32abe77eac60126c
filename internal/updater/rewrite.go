package updater

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/node"
	"promoter/internal/updater/span"
)

// Result is the result of rewriting a file.
type Result struct {
	Content  []byte // nil if unchanged
	Changes  []edit.Change
	Refusals []edit.Refusal // of this rewrite; those of the scan are in the inventory
	Notes    []Note
}

// Rewrite updates the references in a file to the wanted versions. A component
// for which wanted returns false is not changed. If one reference in a file is
// refused, the others are still rewritten; the caller decides whether a refusal
// is fatal.
func (i *Inventory) Rewrite(ctx context.Context, file File, wanted func(component string) (image.Version, bool)) Result {
	if ctx.Err() != nil {
		return Result{Refusals: []edit.Refusal{{File: file.Path, Reason: context.Cause(ctx).Error()}}}
	}
	r := rewriter{updater: i.updater, file: file.Path, found: i.updater.analyze(file, i.sources)}
	if r.found.stream == nil {
		return Result{}
	}
	planned := r.planAll(wanted)
	if planned = r.join(planned); len(planned) > 0 {
		r.apply(planned)
	}
	return r.result
}

// rewriter rewrites one file.
type rewriter struct {
	updater *Updater
	file    string // path
	found   analysis
	result  Result
}

// planned is a change with its location in the file.
type planned struct {
	change span.Change
	bytes  span.Replacement
	site   *site
}

// planAll plans the changes of all sites.
func (r *rewriter) planAll(wanted func(string) (image.Version, bool)) []planned {
	var all []planned
	signed := isSigned(r.found.stream.Documents)
	for i := range r.found.sites {
		s := &r.found.sites[i]
		version, found := wanted(s.followed.Component)
		if !found {
			continue
		}
		changes, err := plan(s, version, signed)
		if err != nil {
			r.refuse(s, err)
			continue
		}
		all = append(all, changes...)
	}
	return all
}

// plan returns the changes of a site, either all of them or none.
func plan(s *site, version image.Version, signed bool) ([]planned, error) {
	changes, err := s.edits(version)
	if err == nil && len(changes) > 0 && signed {
		err = errSigned
	}
	if err != nil {
		return nil, err
	}
	plans := make([]planned, 0, len(changes))
	for _, c := range changes {
		bytes, err := c.Replacement()
		if err != nil {
			return nil, err
		}
		plans = append(plans, planned{c, bytes, s})
	}
	return plans, nil
}

// errSigned is the reason why a file managed by SOPS is not changed. Source:
// the section "Message Authentication Code" of https://getsops.io/docs/.
var errSigned = errors.New("SOPS signs all values of the file, also those that it does not encrypt, and would refuse to decrypt it: " +
	"change the value with sops, move it to another file, or set mac_only_encrypted")

// isSigned reports whether SOPS signs the values of a file, encrypted or not. The
// signature covers unencrypted values too, unless they are explicitly excluded.
func isSigned(documents []*yaml.Node) bool {
	for _, document := range documents {
		for _, root := range document.Content {
			if node.Text(root, "sops", "mac") != "" && node.Text(root, "sops", "mac_only_encrypted") != "true" {
				return true
			}
		}
	}
	return false
}

// join sorts the changes and merges equal ones from sites that share a scalar.
// If two components require different text in the same location, both are
// refused, and nothing is changed.
func (r *rewriter) join(plans []planned) []planned {
	slices.SortStableFunc(plans, func(a, b planned) int { return cmp.Compare(a.bytes.Span.Start, b.bytes.Span.Start) })
	var joined []planned
	for _, p := range plans {
		last := len(joined) - 1
		switch {
		case last < 0 || joined[last].bytes.Span != p.bytes.Span:
			joined = append(joined, p)
		case joined[last].bytes.Text != p.bytes.Text:
			err := fmt.Errorf("%s and %s share this value and want different ones",
				joined[last].site.followed.Component, p.site.followed.Component)
			r.refuse(p.site, err)
			r.refuse(joined[last].site, err)
			return nil
		}
	}
	return joined
}

// apply replaces the bytes and proves the result.
func (r *rewriter) apply(plans []planned) {
	changes := make([]span.Change, len(plans))
	replacements := make([]span.Replacement, len(plans))
	for i, p := range plans {
		changes[i], replacements[i] = p.change, p.bytes
	}
	stream := r.found.stream
	content, err := span.Splice(stream.Data, replacements)
	if err == nil && r.found.template {
		err = r.proveTemplate(content, changes)
	} else if err == nil {
		err = span.Prove(stream, changes, content)
	}
	if err != nil {
		r.refuse(plans[0].site, err)
		return
	}
	r.result.Content = content
	for _, p := range plans {
		r.result.Changes = append(r.result.Changes, edit.Change{
			Component: p.site.followed.Component,
			Shape:     p.site.shape,
			Position:  stream.Position(r.file, p.bytes.Span.Start),
			From:      string(stream.Data[p.bytes.Span.Start:p.bytes.Span.End]),
			To:        p.bytes.Text,
		})
	}
	for _, alias := range span.Aliases(changes) {
		name := shorten(alias.Node.Value)
		r.result.Notes = append(r.result.Notes, Note{
			Position: alias.Position(r.file),
			Text:     fmt.Sprintf("*%s changes along with its anchor &%s in line %d", name, name, alias.Node.Alias.Line),
		})
	}
}

// proveTemplate proves a template by analyzing it again: the same lines must be
// whole references with the intended values, and no line may still name the old version
// of an image that changed.
func (r *rewriter) proveTemplate(content []byte, changes []span.Change) error {
	again := r.updater.findInTemplate(r.file, content)
	if len(again.sites) != len(r.found.sites) || len(again.refusals) != len(r.found.refusals) {
		return errors.New("the result would have other references than the template")
	}
	left := map[edit.Reference]bool{}
	for i := range r.found.sites {
		old, now := r.found.sites[i].tag.scalar, again.sites[i].tag.scalar
		want := old.Value()
		for _, c := range changes {
			if c.Scalar == old {
				want = c.Value
			}
		}
		if now.Value() != want || now.Node.Line != old.Node.Line {
			return fmt.Errorf("the value at line %d would not be the requested text", old.Node.Line)
		}
		was, is := r.found.sites[i].version(), again.sites[i].version()
		if was.Tag != is.Tag {
			left[edit.Reference{Repository: was.Repository, Tag: was.Tag}] = true
		}
		if was.Digest != is.Digest {
			left[edit.Reference{Repository: was.Repository, Digest: was.Digest}] = true
		}
	}
	return r.proveNoneLeft(again.stream, left)
}

// proveNoneLeft returns an error if a line of a template names one of the versions, which
// have a tag or a digest.
func (r *rewriter) proveNoneLeft(s *span.Stream, left map[edit.Reference]bool) error {
	for number, line := range templateLines(s) {
		for _, word := range nameLike.FindAllString(line.text, -1) {
			_, name, _ := cutReference(word)
			reference, err := image.Parse(name)
			if err != nil {
				continue
			}
			followed, found := r.updater.follower.Follow(r.file, reference.Repository)
			if !found || !followed.Numeric && isAddress(reference) {
				continue
			}
			if reference.Tag != "" && left[edit.Reference{Repository: followed.Repository, Tag: reference.Tag}] ||
				reference.Digest != "" && left[edit.Reference{Repository: followed.Repository, Digest: reference.Digest}] {
				return fmt.Errorf("line %d would still name %s; change it by hand, or keep the version in the values", number+1, word)
			}
		}
	}
	return nil
}

func (r *rewriter) refuse(s *site, err error) {
	r.result.Refusals = append(r.result.Refusals, edit.Refusal{
		File:      r.file,
		Line:      s.first().scalar.Position(r.file).Line,
		Component: s.followed.Component,
		Reason:    err.Error(),
	})
}
