package app

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/edit"
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
	places      map[promotion.Target]promotion.Current
	away        map[string]string // environments whose branch is not at hand
}

func newFindings() *findings {
	return &findings{
		inventories: map[string]*inventory{},
		places:      map[promotion.Target]promotion.Current{},
		away:        map[string]string{},
	}
}

// scan reads the files of all branches.
func (c *Checkout) scan(ctx context.Context, branches []*branch, options Options) (*findings, error) {
	found := newFindings()
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
	return s.scan(ctx, b.files(ctx, c.dir), updater.Options{MaxFileSize: options.MaxFileSize}, narrowed)
}

// scanner sorts what is found in a branch into places.
type scanner struct {
	*follower
	*findings
	inventory *inventory
}

// scan finds what the files of the branch hold and sorts it into places.
func (s scanner) scan(ctx context.Context, files iter.Seq2[updater.File, error], options updater.Options, narrowed narrowing) error {
	options.Writes = s.writes
	found, err := updater.New(s.follower, options).Scan(ctx, s.sorted(narrowed.files(files)))
	if err != nil {
		return err
	}
	s.inventory.Inventory = found
	for _, name := range s.inventory.branch.environments {
		s.inventories[name] = s.inventory
	}
	s.place()
	s.missing(narrowed)
	return nil
}

// sorted lets the files pass and remembers which applications have any: a place
// with files and no reference is another thing than an absent one.
func (s scanner) sorted(files iter.Seq2[updater.File, error]) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		for file, err := range files {
			for _, target := range s.placesOf(file.Path) {
				s.inventory.files[file.Path] = file
				if _, known := s.places[target]; !known {
					s.places[target] = promotion.Current{}
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
		targets := s.placesFollowing(reference)
		for _, target := range targets {
			present := s.places[target]
			present.References = append(present.References, reference)
			if len(targets) > 1 {
				present.Refusals = append(present.Refusals, shared(reference, targets))
			}
			s.places[target] = present
		}
	}
	for _, refusal := range s.inventory.Refusals {
		for _, target := range s.placesOf(refusal.File) {
			present := s.places[target]
			present.Refusals = append(present.Refusals, refusal)
			s.places[target] = present
		}
	}
}

// placesFollowing returns the places that a reference belongs to. Environments
// may share a file when they follow different components in it.
func (f *follower) placesFollowing(reference edit.Reference) []promotion.Target {
	return slices.DeleteFunc(f.placesOf(reference.Position.File), func(target promotion.Target) bool {
		match, ok := f.config.Follow(target.Environment, target.Application, reference.Repository)
		return !ok || match.Name != reference.Component
	})
}

// shared refuses a reference that two environments would write. Loading the
// config finds most of these; globs such as **/dev and a/** only meet in a file.
func shared(reference edit.Reference, targets []promotion.Target) edit.Refusal {
	return edit.Refusal{
		File: reference.Position.File, Line: reference.Position.Line, Component: reference.Component,
		Reason: fmt.Sprintf("both %s and %s write it: narrow the paths of one", targets[0].Environment, targets[1].Environment),
	}
}

// missing refuses the places in which a configured file is not there. A file that
// was narrowed away is not missed.
func (s scanner) missing(narrowed narrowing) {
	has := func(file string) bool {
		_, found := s.inventory.files[file]
		return found || !narrowed.keeps(file)
	}
	for target, present := range s.places {
		if !slices.Contains(s.inventory.branch.environments, target.Environment) {
			continue
		}
		present.Refusals = append(present.Refusals, s.missingWrites(target, has)...)
		s.places[target] = present
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
