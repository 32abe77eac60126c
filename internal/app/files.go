package app

import (
	"context"
	"iter"
	"maps"
	"slices"

	"promoter/internal/config"
	"promoter/internal/promotion"
	"promoter/internal/promotion/engine"
	"promoter/internal/scm/git"
	"promoter/internal/updater"
)

// gitFiles finds references in the files of commits. It is engine.Files.
type gitFiles struct {
	objects gitObjects
	maxSize int64 // bytes over which a file is not parsed
	known   *memories
}

// At implements engine.Files.
func (f gitFiles) At(ctx context.Context, c *config.Config, commit string, environments []string) (engine.Tree, error) {
	entries, err := f.objects.entries(ctx, commit)
	if err != nil {
		return nil, err
	}
	b := &branch{environments: environments}
	found := newFindings()
	s := scanner{
		follower: newFollower(c, environments, nil), findings: found,
		inventory: &inventory{branch: b, files: map[string]updater.File{}},
	}
	options := updater.Options{MaxFileSize: f.maxSize, Memory: f.known.of(c.Fingerprint(), environments)}
	if err := s.scan(ctx, f.list(entries), options, narrowing{}); err != nil {
		return nil, err
	}
	return gitTree{found}, nil
}

// list shows entries as files, without the config: it says what is followed, and
// nothing in it is deployed.
func (f gitFiles) list(entries []git.Entry) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		for _, entry := range entries {
			if entry.Path == ConfigFile {
				continue
			}
			file := updater.File{Path: entry.Path, Mode: modeOf(entry.Mode)}
			if entry.Mode == git.Regular { // the blob of a link is its target's name
				file.ID = entry.ID.String()
			}
			file.Read = func() ([]byte, error) { return f.objects.content(entry, searchedLimit) }
			if !yield(file, nil) {
				return
			}
		}
	}
}

// gitTree is what the files of one commit say. It is engine.Tree.
type gitTree struct{ found *findings }

// Places implements engine.Tree.
func (t gitTree) Places() map[promotion.Place]promotion.Present { return t.found.places }

// Rewrite implements engine.Tree. A refusal in any file is one of the place: an
// application is written whole or not at all.
func (t gitTree) Rewrite(ctx context.Context, place promotion.Place, moves []promotion.Move) (engine.Rewritten, error) {
	present := t.found.places[place]
	preview := &PlacePreview{Decision: promotion.Decision{Place: place, State: promotion.Proposed, Moves: moves}}
	preview.Refusals = slices.Clone(present.Refusals)
	whole := &Preview{Places: []PlacePreview{*preview}}
	target := &whole.Places[0]
	jobs := rewritingsOf(target, t.found.inventories[place.Environment], present.References)
	if err := rewriteAll(ctx, whole, jobs); err != nil {
		return engine.Rewritten{}, err
	}
	out := engine.Rewritten{Changes: target.Changes, Refusals: target.Refusals, Files: map[string][]byte{}}
	for _, file := range target.Files {
		out.Files[file.Path] = file.After
	}
	return out, nil
}

// applicationsIn lists the applications that have files in an environment, from
// the names of the files alone.
func applicationsIn(environment *config.Environment, entries []git.Entry) []string {
	found := map[string]bool{}
	for _, entry := range entries {
		if application, ok := environment.Match(entry.Path); ok && entry.Path != ConfigFile {
			found[application] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
