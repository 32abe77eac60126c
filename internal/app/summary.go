package app

import (
	"maps"
	"slices"

	"promoter/internal/engine"
	"promoter/internal/image"
	"promoter/internal/promotion"
)

// Troubled says whether something was refused or a registry did not answer.
func (p *Preview) Troubled() bool {
	return len(p.Errors) > 0 || slices.ContainsFunc(p.Places, func(target PlacePreview) bool {
		return len(target.Refusals) > 0
	})
}

// Changed says whether there is a change to write.
func (p *Preview) Changed() bool {
	return slices.ContainsFunc(p.Places, func(target PlacePreview) bool { return target.Changed() })
}

// Waiting says for how many applications there is a change that may not be
// proposed yet.
func (p *Preview) Waiting() (n int) {
	for i := range p.Places {
		if target := &p.Places[i]; target.State == promotion.Waiting && len(target.Moves) > 0 {
			n++
		}
	}
	return n
}

// Count says what the changes that apply would write amount to.
func (p *Preview) Count() (targets, files, changes int) {
	for i := range p.Places {
		if target := &p.Places[i]; target.Changed() && target.OnDisk {
			targets++
			files += len(target.Files)
			changes += len(target.Changes)
		}
	}
	return targets, files, changes
}

// offerErrors lists the components whose registry did not answer, by name.
func offerErrors(failed map[string]error) []OfferError {
	var errs []OfferError
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		errs = append(errs, OfferError{Component: name, Err: failed[name]})
	}
	return errs
}

// unused returns the repositories that no file refers to.
func unused(explicit promotion.ExplicitVersions, found *findings) []image.Repository {
	used := make(map[image.Repository]bool, len(explicit))
	for _, current := range found.places {
		for _, reference := range current.References {
			used[reference.Repository] = true
		}
	}
	return slices.DeleteFunc(explicit.Repositories(), func(r image.Repository) bool { return used[r] })
}

// Result shows the preview in the form of a pass, for what prints both.
func (p *Preview) Result(name string) Result {
	result := Result{Repository: name}
	for i := range p.Places {
		result.Report.Decisions = append(result.Report.Decisions, p.Places[i].Decision)
	}
	for _, e := range p.Errors {
		result.Report.Errors = append(result.Report.Errors, engine.PartialError{What: "component " + e.Component, Err: e.Err})
	}
	return result
}
