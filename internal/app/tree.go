package app

import (
	"context"
	"maps"
	"slices"
	"strings"

	"promoter/internal/promotion"
	"promoter/internal/promotion/engine"
	"promoter/internal/scm/git"
	"promoter/internal/updater"
)

// gitTree is what the files of one commit say. It is engine.Tree, and does not
// change.
type gitTree struct {
	*surveyor
	commit string
	root   git.ID // the tree of the commit: the same one, the same files
	survey *updater.Survey
	held   map[promotion.Place][]git.Entry // the files of each place, by path
	places map[promotion.Place]promotion.Present
}

func newGitTree(s *surveyor) *gitTree {
	return &gitTree{
		surveyor: s, survey: s.updater.Survey(),
		held: map[promotion.Place][]git.Entry{}, places: map[promotion.Place]promotion.Present{},
	}
}

// only is the tree as some of its environments see it.
func (t *gitTree) only(environments []string) *gitTree {
	if len(environments) == len(t.environments) {
		return t
	}
	seen := *t
	seen.places = maps.Clone(t.places)
	maps.DeleteFunc(seen.places, func(place promotion.Place, _ promotion.Present) bool {
		return !slices.Contains(environments, place.Environment)
	})
	return &seen
}

// Places implements engine.Tree.
func (t *gitTree) Places() map[promotion.Place]promotion.Present { return t.places }

// Rewrite implements engine.Tree. A refusal in any file is one of the place: an
// application is written whole or not at all.
func (t *gitTree) Rewrite(ctx context.Context, place promotion.Place, moves []promotion.Move) (engine.Rewritten, error) {
	present := t.places[place]
	preview := &PlacePreview{Decision: promotion.Decision{Place: place, State: promotion.Proposed, Moves: moves}}
	preview.Refusals = slices.Clone(present.Refusals)
	whole := &Preview{Places: []PlacePreview{*preview}}
	target := &whole.Places[0]
	if err := rewriteAll(ctx, whole, rewritingsOf(target, t.inventory(place), present.References)); err != nil {
		return engine.Rewritten{}, err
	}
	out := engine.Rewritten{Changes: target.Changes, Refusals: target.Refusals, Files: map[string][]byte{}}
	for _, file := range target.Files {
		out.Files[file.Path] = file.After
	}
	return out, nil
}

// inventory is what the files of one place hold.
func (t *gitTree) inventory(place promotion.Place) *inventory {
	i := &inventory{Inventory: t.survey.Inventory(t.paths(place)...), files: map[string]updater.File{}}
	for _, entry := range t.held[place] {
		i.files[entry.Path] = t.files.file(entry)
	}
	return i
}

// next is the tree of the commit that differs like that. Only the places of the
// files that differ, and of those that rest on them, are looked at.
func (t *gitTree) next(ctx context.Context, d difference) (*gitTree, error) {
	survey, touched, err := t.survey.Next(ctx, t.files.asFiles(d))
	if err != nil {
		return nil, err
	}
	next := &gitTree{surveyor: t.surveyor, survey: survey, held: maps.Clone(t.held), places: maps.Clone(t.places)}
	if next.hold(d) && next.writesAny() { // a file that is missed may be of any place
		next.look()
		return next, nil
	}
	for _, path := range touched {
		for _, place := range next.placesOf(path) {
			if next.held[place] != nil {
				next.places[place] = next.present(place)
			}
		}
	}
	return next, nil
}

// look sees what the files of all places say.
func (t *gitTree) look() {
	for place := range t.held {
		t.places[place] = t.present(place)
	}
}

// hold sorts the files of the difference into their places, and says whether any
// came or went.
func (t *gitTree) hold(d difference) (other bool) {
	now := map[promotion.Place][]git.Entry{}
	for _, entry := range d.now {
		for _, place := range t.placesOf(entry.Path) {
			now[place] = append(now[place], entry)
		}
	}
	gone := map[promotion.Place][]string{}
	for _, path := range d.gone {
		for _, place := range t.placesOf(path) {
			gone[place] = append(gone[place], path)
			if _, changed := now[place]; !changed {
				now[place] = nil // it is looked at too
			}
		}
	}
	for place, entries := range now {
		before := len(t.held[place])
		if t.replace(place, entries, gone[place]); len(gone[place]) > 0 || len(t.held[place]) != before {
			other = true
		}
	}
	return other
}

// replace gives a place other files. Without any there is no such place.
func (t *gitTree) replace(place promotion.Place, now []git.Entry, gone []string) {
	drop := map[string]bool{}
	for _, entry := range now {
		drop[entry.Path] = true
	}
	for _, path := range gone {
		drop[path] = true
	}
	held := slices.Clone(now)
	for _, entry := range t.held[place] {
		if !drop[entry.Path] {
			held = append(held, entry)
		}
	}
	if len(held) == 0 {
		delete(t.held, place)
		delete(t.places, place)
		return
	}
	slices.SortFunc(held, func(a, b git.Entry) int { return strings.Compare(a.Path, b.Path) })
	t.held[place] = held
}

// has says whether a place of the tree has the file.
func (t *gitTree) has(file string) bool {
	return slices.ContainsFunc(t.placesOf(file), func(place promotion.Place) bool {
		return slices.ContainsFunc(t.held[place], func(entry git.Entry) bool { return entry.Path == file })
	})
}

// present is what the files of a place say.
func (t *gitTree) present(place promotion.Place) promotion.Present {
	var present promotion.Present
	found := t.survey.Inventory(t.paths(place)...)
	for _, reference := range found.References {
		places := t.placesFollowing(reference)
		if !slices.Contains(places, place) {
			continue
		}
		present.References = append(present.References, reference)
		if len(places) > 1 {
			present.Refusals = append(present.Refusals, shared(reference, places))
		}
	}
	present.Refusals = append(present.Refusals, found.Refusals...)
	present.Refusals = append(present.Refusals, t.missingWrites(place, t.has)...)
	return present
}

// paths lists the files of a place.
func (t *gitTree) paths(place promotion.Place) []string {
	paths := make([]string, 0, len(t.held[place]))
	for _, entry := range t.held[place] {
		paths = append(paths, entry.Path)
	}
	return paths
}
