package app

import (
	"context"
	"maps"
	"slices"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/engine"
	"promoter/internal/git"
	"promoter/internal/updater"
)

// gitTree is what the files of one commit say. It is engine.Tree, and does not
// change.
type gitTree struct {
	*surveyor
	commit string
	root   git.ID // the tree of the commit: the same one, the same files
	survey *updater.Survey
	held   map[promotion.Target][]git.Entry // the files of each place, by path
	places map[promotion.Target]promotion.Current
}

func newGitTree(s *surveyor) *gitTree {
	return &gitTree{
		surveyor: s, survey: s.updater.Survey(),
		held: map[promotion.Target][]git.Entry{}, places: map[promotion.Target]promotion.Current{},
	}
}

// only is the tree as some of its environments see it.
func (t *gitTree) only(environments []string) *gitTree {
	if len(environments) == len(t.environments) {
		return t
	}
	seen := *t
	seen.places = maps.Clone(t.places)
	maps.DeleteFunc(seen.places, func(target promotion.Target, _ promotion.Current) bool {
		return !slices.Contains(environments, target.Environment)
	})
	return &seen
}

// Places implements engine.Tree.
func (t *gitTree) Targets() map[promotion.Target]promotion.Current { return t.places }

// Rewrite implements engine.Tree. A refusal in any file is one of the place: an
// application is written whole or not at all.
func (t *gitTree) Rewrite(ctx context.Context, place promotion.Target, moves []promotion.Move) (engine.Rewritten, error) {
	present := t.places[place]
	preview := &PlacePreview{Decision: promotion.Decision{Target: place, State: promotion.Proposed, Moves: moves}}
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
func (t *gitTree) inventory(target promotion.Target) *inventory {
	i := &inventory{Inventory: t.survey.Inventory(t.paths(target)...), files: map[string]updater.File{}}
	for _, entry := range t.held[target] {
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
		for _, target := range next.placesOf(path) {
			if next.held[target] != nil {
				next.places[target] = next.present(target)
			}
		}
	}
	return next, nil
}

// look sees what the files of all places say.
func (t *gitTree) look() {
	for target := range t.held {
		t.places[target] = t.present(target)
	}
}

// hold sorts the files of the difference into their places, and says whether any
// came or went.
func (t *gitTree) hold(d difference) (other bool) {
	now := map[promotion.Target][]git.Entry{}
	for _, entry := range d.now {
		for _, target := range t.placesOf(entry.Path) {
			now[target] = append(now[target], entry)
		}
	}
	gone := map[promotion.Target][]string{}
	for _, path := range d.gone {
		for _, target := range t.placesOf(path) {
			gone[target] = append(gone[target], path)
			if _, changed := now[target]; !changed {
				now[target] = nil // it is looked at too
			}
		}
	}
	for target, entries := range now {
		before := len(t.held[target])
		if t.replace(target, entries, gone[target]); len(gone[target]) > 0 || len(t.held[target]) != before {
			other = true
		}
	}
	return other
}

// replace gives a place other files. Without any there is no such place.
func (t *gitTree) replace(target promotion.Target, now []git.Entry, gone []string) {
	drop := map[string]bool{}
	for _, entry := range now {
		drop[entry.Path] = true
	}
	for _, path := range gone {
		drop[path] = true
	}
	held := slices.Clone(now)
	for _, entry := range t.held[target] {
		if !drop[entry.Path] {
			held = append(held, entry)
		}
	}
	if len(held) == 0 {
		delete(t.held, target)
		delete(t.places, target)
		return
	}
	slices.SortFunc(held, func(a, b git.Entry) int { return strings.Compare(a.Path, b.Path) })
	t.held[target] = held
}

// has says whether a place of the tree has the file.
func (t *gitTree) has(file string) bool {
	return slices.ContainsFunc(t.placesOf(file), func(target promotion.Target) bool {
		return slices.ContainsFunc(t.held[target], func(entry git.Entry) bool { return entry.Path == file })
	})
}

// present is what the files of a place say.
func (t *gitTree) present(target promotion.Target) promotion.Current {
	var present promotion.Current
	found := t.survey.Inventory(t.paths(target)...)
	for _, reference := range found.References {
		targets := t.placesFollowing(reference)
		if !slices.Contains(targets, target) {
			continue
		}
		present.References = append(present.References, reference)
		if len(targets) > 1 {
			present.Refusals = append(present.Refusals, shared(reference, targets))
		}
	}
	present.Refusals = append(present.Refusals, found.Refusals...)
	present.Refusals = append(present.Refusals, t.missingWrites(target, t.has)...)
	return present
}

// paths lists the files of a place.
func (t *gitTree) paths(target promotion.Target) []string {
	paths := make([]string, 0, len(t.held[target]))
	for _, entry := range t.held[target] {
		paths = append(paths, entry.Path)
	}
	return paths
}
