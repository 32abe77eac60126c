package updater

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"promoter/internal/edit"
	"promoter/internal/image"
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
	r := rewriter{inventory: i, file: file.Path, analysis: i.analyze(file)}
	if r.stream == nil {
		return Result{}
	}
	r.planAll(wanted)
	r.join()
	if len(r.planned) > 0 {
		r.apply()
	}
	return r.result
}

// rewriter applies the changes to one file.
type rewriter struct {
	inventory *Inventory
	file      string
	analysis
	signed  bool // by SOPS
	planned []planned
	result  Result
}

// planned is a change with its location in the file.
type planned struct {
	change
	bytes replacement
	site  *site
}

// planAll plans the changes of all sites.
func (r *rewriter) planAll(wanted func(string) (image.Version, bool)) {
	r.signed = r.stream.signed()
	for i := range r.sites {
		s := &r.sites[i]
		version, found := wanted(s.followed.Component)
		if !found {
			continue
		}
		if err := r.plan(s, version); err != nil {
			r.refuse(s, err)
		}
	}
}

// plan plans the changes of a site, either all of them or none.
func (r *rewriter) plan(s *site, version image.Version) error {
	changes, err := s.edits(version)
	if err == nil && len(changes) > 0 && r.signed {
		err = errSigned
	}
	if err != nil {
		return err
	}
	plans := make([]planned, 0, len(changes))
	for _, c := range changes {
		found, err := c.replacement()
		if err == nil {
			found, err = found.outward()
		}
		if err != nil {
			return err
		}
		plans = append(plans, planned{c, found, s})
	}
	r.planned = append(r.planned, plans...)
	return nil
}

// join sorts the changes and merges equal ones from sites that share a scalar.
// If two components require different text in the same location, both are
// refused.
func (r *rewriter) join() {
	slices.SortStableFunc(r.planned, func(a, b planned) int { return cmp.Compare(a.bytes.span.start, b.bytes.span.start) })
	var joined []planned
	for _, p := range r.planned {
		last := len(joined) - 1
		switch {
		case last < 0 || joined[last].bytes.span != p.bytes.span:
			joined = append(joined, p)
		case joined[last].bytes.text != p.bytes.text:
			err := fmt.Errorf("%s and %s share this value and want different ones",
				joined[last].site.followed.Component, p.site.followed.Component)
			r.refuse(p.site, err)
			r.refuse(joined[last].site, err)
			r.planned = nil
			return
		}
	}
	r.planned = joined
}

// apply replaces the bytes and proves the result.
func (r *rewriter) apply() {
	changes := make([]change, len(r.planned))
	replacements := make([]replacement, len(r.planned))
	for i, p := range r.planned {
		changes[i], replacements[i] = p.change, p.bytes
	}
	content, err := splice(r.stream.data, replacements)
	if err == nil {
		err = r.prove(content, changes)
	}
	if err != nil {
		r.refuse(r.planned[0].site, err)
		return
	}
	r.result.Content = content
	for _, p := range r.planned {
		r.result.Changes = append(r.result.Changes, r.describe(p))
	}
	r.noteAliases(changes)
}

func (r *rewriter) prove(content []byte, changes []change) error {
	if r.template {
		return r.proveTemplate(content, changes)
	}
	return newProof(changes).stream(r.stream, content)
}

// proveTemplate proves a template by scanning it again: the same lines must be
// whole references with the intended values.
func (r *rewriter) proveTemplate(content []byte, changes []change) error {
	again := r.inventory.findInTemplate(r.file, content)
	if len(again.sites) != len(r.sites) || len(again.refusals) != len(r.refusals) {
		return errors.New("the result would have other references than the template")
	}
	for i := range r.sites {
		old, now := r.sites[i].tag.scalar, again.sites[i].tag.scalar
		want := old.value()
		for _, c := range changes {
			if c.scalar == old {
				want = c.value
			}
		}
		if now.value() != want || now.node.Line != old.node.Line {
			return fmt.Errorf("the value at line %d would not be the wanted text", old.node.Line)
		}
	}
	return nil
}

func (r *rewriter) describe(p planned) edit.Change {
	at := p.bytes.span
	return edit.Change{
		Component: p.site.followed.Component,
		Shape:     p.site.shape,
		Position:  r.stream.text.position(r.file, at.start),
		From:      string(r.stream.data[at.start:at.end]),
		To:        p.bytes.text,
	}
}

func (r *rewriter) refuse(s *site, err error) {
	r.result.Refusals = append(r.result.Refusals, edit.Refusal{
		File:      r.file,
		Line:      s.parts()[0].scalar.position(r.file).Line,
		Component: s.followed.Component,
		Reason:    err.Error(),
	})
}
