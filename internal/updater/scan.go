package updater

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"promoter/internal/edit"
	"promoter/internal/updater/shapes"
)

// Inventory is what the files of a branch, or some of them, contain.
type Inventory struct {
	References []edit.Reference
	Refusals   []edit.Refusal
	Notes      []edit.Note // of a scan
	Held       []edit.Hold
	Mentions   []edit.Mentions  // of each file that has some
	Others     []edit.Reference // that no component follows, in files that may also have followed ones

	updater *Updater
	sources shapes.Sources
}

// Scan scans the files of a branch. It keeps only the references found in them.
// The order of the files does not matter.
func (u *Updater) Scan(ctx context.Context, files iter.Seq2[File, error]) (*Inventory, error) {
	var all []File
	for file, err := range files {
		if err != nil {
			return nil, fmt.Errorf("read the branch: %w", err)
		}
		all = append(all, file)
	}
	if ctx.Err() != nil { // the list may have ended early
		return nil, context.Cause(ctx)
	}
	index, paths, err := u.NewIndex().Next(ctx, Difference{Files: all})
	if err != nil {
		return nil, err
	}
	inventory := index.Inventory(paths...)
	inventory.Others = index.Others()
	for _, path := range paths {
		inventory.Notes = append(inventory.Notes, index.at(path).notes...)
	}
	slices.SortStableFunc(inventory.Notes, func(a, b edit.Note) int { return a.Position.Compare(b.Position) })
	return inventory, nil
}

// sort makes the order independent of the order of the files.
func (i *Inventory) sort() {
	slices.SortStableFunc(i.References, func(a, b edit.Reference) int { return a.Position.Compare(b.Position) })
	slices.SortStableFunc(i.Held, func(a, b edit.Hold) int { return a.Position.Compare(b.Position) })
	slices.SortStableFunc(i.Refusals, func(a, b edit.Refusal) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Reason, b.Reason))
	})
}
