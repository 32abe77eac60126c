package app

import (
	"context"
	"iter"
	"slices"

	"promoter/internal/edit"
	"promoter/internal/promotion"
	"promoter/internal/updater"
)

// inventory is what the files of one branch hold.
type inventory struct {
	*updater.Inventory
	branch *branch
	files  map[string]updater.File // the files of the environments, by path
}

// findings are the inventories of all branches, seen by place.
type findings struct {
	inventories map[string]*inventory // by environment
	places      map[promotion.Place]promotion.Present
	away        map[string]string // environments whose branch is not at hand
}

// scan reads the files of all branches.
func (c *Checkout) scan(ctx context.Context, branches []*branch, options Options) (*findings, error) {
	found := &findings{
		inventories: map[string]*inventory{},
		places:      map[promotion.Place]promotion.Present{},
		away:        map[string]string{},
	}
	for _, b := range branches {
		if b.away == "" {
			if err := c.scanBranch(ctx, b, options, found); err != nil {
				return nil, err
			}
			continue
		}
		for _, name := range b.environments {
			found.away[name] = b.away
		}
	}
	return found, nil
}

func (c *Checkout) scanBranch(ctx context.Context, b *branch, options Options, found *findings) error {
	f := newFollower(c.config, b.environments, c.given)
	s := scanner{follower: f, findings: found, inventory: &inventory{branch: b, files: map[string]updater.File{}}}
	narrowed, err := newNarrowing(options.Paths)
	if err != nil {
		return err
	}
	files := s.sorted(narrowed.files(b.files(ctx, c.dir)))
	u := updater.New(f, updater.Options{MaxFileSize: options.MaxFileSize, Writes: f.writes})
	s.inventory.Inventory, err = u.Scan(ctx, files)
	if err != nil {
		return err
	}
	for _, name := range b.environments {
		found.inventories[name] = s.inventory
	}
	s.place()
	s.missing(narrowed)
	return nil
}

// scanner sorts what is found in a branch into places.
type scanner struct {
	*follower
	*findings
	inventory *inventory
}

// sorted lets the files pass and remembers which applications have any: a place
// with files and no reference is another thing than an absent one.
func (s scanner) sorted(files iter.Seq2[updater.File, error]) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		for file, err := range files {
			for _, place := range s.placesOf(file.Path) {
				s.inventory.files[file.Path] = file
				if _, known := s.places[place]; !known {
					s.places[place] = promotion.Present{}
				}
			}
			if !yield(file, err) {
				return
			}
		}
	}
}

// place sorts references and refusals into the places of their files.
func (s scanner) place() {
	for _, reference := range s.inventory.References {
		s.at(reference.Position.File, func(place promotion.Place, p *promotion.Present) {
			if s.follows(place, reference) {
				p.References = append(p.References, reference)
			}
		})
	}
	for _, refusal := range s.inventory.Refusals {
		s.at(refusal.File, func(_ promotion.Place, p *promotion.Present) {
			p.Refusals = append(p.Refusals, refusal)
		})
	}
}

// follows says whether the component is one of the place. Environments may share
// a file when they follow different components in it.
func (s scanner) follows(place promotion.Place, reference edit.Reference) bool {
	match, ok := s.config.Follow(place.Environment, place.Application, reference.Repository)
	return ok && match.Name == reference.Component
}

// missing refuses the places in which a configured file is not there. A file that
// was narrowed away is not missed.
func (s scanner) missing(narrowed narrowing) {
	has := func(file string) bool {
		_, found := s.inventory.files[file]
		return found || !narrowed.keeps(file)
	}
	for place, present := range s.places {
		if !slices.Contains(s.inventory.branch.environments, place.Environment) {
			continue
		}
		present.Refusals = append(present.Refusals, s.missingWrites(place, has)...)
		s.places[place] = present
	}
}

func (s scanner) at(file string, add func(promotion.Place, *promotion.Present)) {
	for _, place := range s.placesOf(file) {
		present := s.places[place]
		add(place, &present)
		s.places[place] = present
	}
}

// references returns every reference of every place.
func (f *findings) references() iter.Seq[edit.Reference] {
	return func(yield func(edit.Reference) bool) {
		for _, present := range f.places {
			for _, reference := range present.References {
				if !yield(reference) {
					return
				}
			}
		}
	}
}
