package updater

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"promoter/internal/edit"
	"promoter/internal/fault"
)

// batchSize is the number of files sent to a worker at once. Sending small
// files one by one would cost more than scanning them.
const batchSize = 32

// Inventory is the result of scanning a branch.
type Inventory struct {
	References []edit.Reference
	Refusals   []edit.Refusal
	Notes      []Note
	Held       []edit.Hold
	Others     []edit.Reference // that no component follows, in files that may also have followed ones

	updater *Updater
	sources *sources
}

// Scan scans the files of a branch. It keeps only the references found in them.
// The order of the files does not matter.
func (u *Updater) Scan(ctx context.Context, files iter.Seq2[File, error]) (*Inventory, error) {
	inventory := &Inventory{updater: u, sources: newSources()}
	waiting, err := inventory.scan(ctx, files)
	if err != nil {
		return nil, err
	}
	inventory.sources.complete = true
	if len(waiting) > 0 {
		if _, err := inventory.scan(ctx, withoutErrors(waiting)); err != nil {
			return nil, err
		}
	}
	inventory.sort()
	return inventory, nil
}

// scan scans files in parallel. It returns the files that need a source that
// another file may declare.
func (i *Inventory) scan(ctx context.Context, files iter.Seq2[File, error]) ([]File, error) {
	batches := make(chan []File)
	var (
		mu      sync.Mutex
		waiting []File
		count   atomic.Int64 // of what was found
	)
	count.Store(int64(len(i.References) + len(i.Refusals)))
	group, ctx := errgroup.WithContext(ctx)
	for range i.updater.options.Workers {
		group.Go(func() (err error) {
			defer fault.Survive(&err)
			var found Inventory
			var later []File
			for batch := range batches {
				for _, file := range batch {
					n, err := i.scanFile(ctx, file, &found, &later)
					if err != nil {
						return err
					}
					if count.Add(int64(n)) > maxFound {
						return tooMany(map[string]int{file.Path: n})
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			i.add(found)
			waiting = append(waiting, later...)
			return nil
		})
	}
	err := send(ctx, files, batches)
	close(batches)
	if failed := group.Wait(); failed != nil {
		err = failed
	}
	return waiting, err
}

// send sends the files to the workers in batches.
func send(ctx context.Context, files iter.Seq2[File, error], batches chan<- []File) error {
	batch := make([]File, 0, batchSize)
	flush := func() error {
		select {
		case batches <- batch:
			batch = make([]File, 0, batchSize)
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for file, err := range files {
		if err != nil {
			return fmt.Errorf("read the branch: %w", err)
		}
		if batch = append(batch, file); len(batch) < batchSize {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return flush()
}

// scanFile adds the findings of one file, or adds it to those that must be scanned again
// when all sources are known. It returns the number of findings.
func (i *Inventory) scanFile(ctx context.Context, file File, found *Inventory, later *[]File) (int, error) {
	a, err := i.updater.charged(ctx, file, i.sources)
	if err != nil {
		return 0, err
	}
	if a.needsSources && !i.sources.complete {
		*later = append(*later, file)
		return 0, nil
	}
	found.References = append(found.References, a.references(file.Path)...)
	found.Refusals = append(found.Refusals, a.refusals...)
	found.Notes = append(found.Notes, a.notes...)
	found.Held = append(found.Held, a.held...)
	found.Others = append(found.Others, a.others...)
	return len(a.sites) + len(a.refusals) + len(a.held), nil
}

func (i *Inventory) add(found Inventory) {
	i.References = append(i.References, found.References...)
	i.Refusals = append(i.Refusals, found.Refusals...)
	i.Notes = append(i.Notes, found.Notes...)
	i.Held = append(i.Held, found.Held...)
	i.Others = append(i.Others, found.Others...)
}

// sort makes the order independent of worker scheduling.
func (i *Inventory) sort() {
	slices.SortStableFunc(i.References, func(a, b edit.Reference) int { return comparePositions(a.Position, b.Position) })
	slices.SortStableFunc(i.Others, func(a, b edit.Reference) int { return comparePositions(a.Position, b.Position) })
	slices.SortStableFunc(i.Held, func(a, b edit.Hold) int { return comparePositions(a.Position, b.Position) })
	slices.SortStableFunc(i.Notes, func(a, b Note) int { return comparePositions(a.Position, b.Position) })
	slices.SortStableFunc(i.Refusals, func(a, b edit.Refusal) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Reason, b.Reason))
	})
}

func comparePositions(a, b edit.Position) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

func withoutErrors(files []File) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for _, file := range files {
			if !yield(file, nil) {
				return
			}
		}
	}
}
