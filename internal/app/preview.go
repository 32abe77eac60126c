package app

import (
	"context"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater"
)

// Preview is what would change in a checkout, and why.
type Preview struct {
	Places []PlacePreview
	Errors []OfferError
	Unused []image.Repository // given versions that no file refers to
}

// PlacePreview is one decision with the changes that carry it out.
type PlacePreview struct {
	promotion.Decision
	Branch   string // empty: the default branch
	OnDisk   bool   // apply can write the files
	Changes  []edit.Change
	Refusals []edit.Refusal
	Notes    []updater.Note
	Files    []FileEdit
}

// FileEdit is a file before and after.
type FileEdit struct {
	Path          string
	Before, After []byte
}

// OfferError is a component whose registry did not answer.
type OfferError struct {
	Component string
	Err       error
}

// Plan finds the references, asks for versions and decides what would change.
func (c *Checkout) Plan(ctx context.Context, options Options) (*Preview, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	shown, err := c.environments(options.Environments)
	if err != nil {
		return nil, err
	}
	branches, err := c.branches(c.config.Lineage(shown))
	if err != nil {
		return nil, err
	}
	found, err := c.scan(ctx, branches, options)
	if err != nil {
		return nil, err
	}
	observation, failed, err := c.observe(ctx, found, shown, options)
	if err != nil {
		return nil, err
	}
	preview, err := carryOut(ctx, observation, found, options)
	if err != nil {
		return nil, err
	}
	preview.Errors = offerErrors(failed)
	return preview, nil
}

// observe puts together what the core looks at, and says for which components a
// registry did not answer. Questions are asked after the offers are there,
// because they depend on them.
func (c *Checkout) observe(ctx context.Context, found *findings, shown []string, options Options) (promotion.Observation, map[string]error, error) {
	components := promotion.FollowedIn(c.config, found.places, c.takesOffers(shown, options))
	available, err := c.offers(ctx, components, options)
	if err != nil {
		return promotion.Observation{}, nil, err
	}
	observation := promotion.Observation{
		Config:       c.config,
		Environments: shown,
		Targets:      found.places,
		Unavailable:  found.away,
		Available:    available,
		Policies:     promotion.Policies(c.config, found.places),
		Requested:    make(map[string]bool, len(options.Environments)),
		Checkout:     true,
	}
	for _, name := range options.Environments {
		observation.Requested[name] = !options.OnlyLook
	}
	var failed map[string]error
	observation.Facts, failed, err = c.facts(ctx, observation, options)
	for component, available := range available {
		if available.Err != nil {
			failed[component] = available.Err
		}
	}
	return observation, failed, err
}

// carryOut decides, and carries each decision out in memory.
func carryOut(ctx context.Context, observation promotion.Observation, found *findings, options Options) (*Preview, error) {
	preview := &Preview{Unused: options.Given.unused(found.references())}
	for _, decision := range promotion.Plan(observation, options.Now()) {
		environment, _ := observation.Config.Environment(decision.Environment)
		preview.Places = append(preview.Places, PlacePreview{Decision: decision, Branch: environment.Branch})
	}
	var jobs []*rewriting
	for i := range preview.Places {
		target := &preview.Places[i]
		present := found.places[target.Target]
		target.Refusals = slices.Clone(present.Refusals)
		if from, ok := found.inventories[target.Environment]; ok {
			target.OnDisk = from.branch.onDisk
			jobs = append(jobs, rewritingsOf(target, from, present.References)...)
		}
	}
	return preview, rewriteAll(ctx, preview, jobs)
}
