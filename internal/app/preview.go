package app

import (
	"context"
	"maps"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scan"
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
	Files    []scan.FileChange
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
	preview := &Preview{Unused: unused(options.Given, found)}
	for _, decision := range promotion.Plan(observation, options.Now()) {
		environment, _ := observation.Config.Environment(decision.Environment)
		preview.Places = append(preview.Places, PlacePreview{Decision: decision, Branch: environment.Branch})
	}
	var edits []scan.Edit
	var edited []*PlacePreview
	for i := range preview.Places {
		target := &preview.Places[i]
		if b, ok := found.branches[target.Environment]; ok {
			target.OnDisk = b.onDisk
			edited = append(edited, target)
			edits = append(edits, scan.Edit{Tree: b.tree, Target: target.Target, Moves: target.Moves, Tentative: target.State != promotion.Proposed})
		}
	}
	results, err := scan.Rewrite(ctx, edits...)
	if err != nil {
		return nil, err
	}
	for i, result := range results {
		target := edited[i]
		target.Changes, target.Refusals, target.Notes, target.Files = result.Changes, result.Refusals, result.Notes, result.Files
		if len(target.Moves) > 0 && len(target.Refusals) > 0 {
			target.State, target.Reason = promotion.Refused, promotion.RefusedBy(target.Refusals)
		}
	}
	return preview, nil
}

// Changed reports whether apply has something to write, or would have on another
// branch.
func (p *PlacePreview) Changed() bool {
	return p.State == promotion.Proposed && len(p.Files) > 0
}

// findings are the files of all branches, by target and by environment.
type findings struct {
	places   map[promotion.Target]promotion.Current
	branches map[string]*branch // scanned
	away     map[string]string  // why a branch is not available
}

// scan scans the files of all branches.
func (c *Checkout) scan(ctx context.Context, branches []*branch, options Options) (*findings, error) {
	found := &findings{
		places:   map[promotion.Target]promotion.Current{},
		branches: map[string]*branch{},
		away:     map[string]string{},
	}
	filter, err := scan.NewPathFilter(options.Paths)
	if err != nil {
		return nil, err
	}
	for _, b := range branches {
		if b.away == "" {
			request := scan.Request{Config: c.config, Environments: b.environments, Explicit: c.given, Filter: filter, MaxFileSize: options.MaxFileSize}
			if b.tree, err = scan.Files(ctx, request, b.files(ctx, c.dir)); err != nil {
				return nil, err
			}
			maps.Copy(found.places, b.tree.Targets)
		}
		for _, name := range b.environments {
			if b.away == "" {
				found.branches[name] = b
			} else {
				found.away[name] = b.away
			}
		}
	}
	return found, nil
}
