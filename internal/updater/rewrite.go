package updater

import (
	"context"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// Result is a file after a rewrite.
type Result struct {
	Content  []byte // nil: unchanged
	Changes  []edit.Change
	Refusals []edit.Refusal // of this rewrite; those of the scan are in the inventory
	Notes    []Note
}

// Rewrite brings the references of a file to the wanted versions. A component for
// which wanted says false stays as it is. A file of which a part is refused is
// rewritten in its other parts: the caller decides what a refusal stops.
func (i *Inventory) Rewrite(ctx context.Context, file File, wanted func(component string) (image.Version, bool)) Result {
	if err := ctx.Err(); err != nil {
		return Result{Refusals: []edit.Refusal{{File: file.Path, Reason: context.Cause(ctx).Error()}}}
	}
	a := i.analyse(file)
	if a.stream == nil {
		return Result{}
	}
	r := rewriter{file: file.Path, analysis: a}
	return r.rewrite(wanted)
}

// rewriter makes the changes of one file.
type rewriter struct {
	file string
	analysis
	planned []planned
	result  Result
}

// planned is a change with its bytes.
type planned struct {
	change
	replacement
	site *site
}

func (r *rewriter) rewrite(wanted func(string) (image.Version, bool)) Result {
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
	if len(r.planned) > 0 {
		r.apply()
	}
	return r.result
}

// plan finds the changes of a site. All of them are made or none.
func (r *rewriter) plan(s *site, version image.Version) error {
	changes, err := s.edits(version)
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

// apply replaces the bytes and proves the result.
func (r *rewriter) apply() {
	changes := make([]change, len(r.planned))
	replacements := make([]replacement, len(r.planned))
	for i, p := range r.planned {
		changes[i], replacements[i] = p.change, p.replacement
	}
	content, err := splice(r.stream.data, replacements)
	if err == nil {
		err = newProof(changes).stream(r.stream, content)
	}
	if err != nil {
		r.refuse(r.planned[0].site, err)
		return
	}
	r.result.Content = content
	for _, p := range r.planned {
		r.result.Changes = append(r.result.Changes, edit.Change{
			Component: p.site.followed.Component,
			Shape:     p.site.shape,
			Position:  r.stream.text.position(r.file, p.replacement.span.start),
			From:      string(r.stream.data[p.replacement.span.start:p.replacement.span.end]),
			To:        p.replacement.text,
		})
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
