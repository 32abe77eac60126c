package app

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/updater"
)

// rewriting is one file of a place that is to hold other versions.
type rewriting struct {
	place  *PlacePreview
	moves  map[string]image.Version // of the place, by component
	from   *inventory
	file   string
	before []byte
	result updater.Result
}

// rewritingsOf returns the files of a place that hold a reference which moves,
// sorted by path.
func rewritingsOf(place *PlacePreview, from *inventory, references []edit.Reference) []*rewriting {
	moves := movesOf(place)
	var names []string
	for _, reference := range references {
		if _, moved := moves[reference.Component]; moved {
			names = append(names, reference.Position.File)
		}
	}
	slices.Sort(names)
	var jobs []*rewriting
	for _, name := range slices.Compact(names) {
		jobs = append(jobs, &rewriting{place: place, moves: moves, from: from, file: name})
	}
	return jobs
}

func movesOf(place *PlacePreview) map[string]image.Version {
	moves := make(map[string]image.Version, len(place.Moves))
	for _, move := range place.Moves {
		moves[move.Component] = move.To
	}
	return moves
}

// rewriteAll carries the decisions out in memory, file by file side by side. A
// refusal in any file leaves its whole place as it is: an application is written
// whole or not at all.
func rewriteAll(ctx context.Context, preview *Preview, jobs []*rewriting) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, job := range jobs {
		group.Go(func() error { return job.run(ctx) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, job := range jobs {
		job.collect()
	}
	for i := range preview.Places {
		if place := &preview.Places[i]; len(place.Moves) > 0 && len(place.Refusals) > 0 {
			place.refuse()
		}
	}
	return nil
}

func (r *rewriting) run(ctx context.Context) error {
	file, ok := r.from.files[r.file]
	if !ok {
		return fault.New(fault.Internal, "%s holds a reference and was not read", r.file)
	}
	var err error
	if r.before, err = file.Read(); err != nil {
		return fmt.Errorf("read %s again: %w", r.file, err)
	}
	file.Read = func() ([]byte, error) { return r.before, nil }
	r.result = r.from.Rewrite(ctx, file, func(component string) (image.Version, bool) {
		version, moved := r.moves[component]
		return version, moved
	})
	return ctx.Err()
}

// collect adds what came of a file to its place.
func (r *rewriting) collect() {
	r.place.Changes = append(r.place.Changes, r.result.Changes...)
	r.place.Refusals = append(r.place.Refusals, r.result.Refusals...)
	r.place.Notes = append(r.place.Notes, r.result.Notes...)
	if r.result.Content != nil {
		r.place.Files = append(r.place.Files, FileEdit{Path: r.file, Before: r.before, After: r.result.Content})
	}
}

// refuse takes the changes back: what is shown is what would be written.
func (p *PlacePreview) refuse() {
	p.State = promotion.Refused
	p.Reason = promotion.RefusedBy(p.Refusals)
	p.Files, p.Changes, p.Notes = nil, nil, nil
}

// Changed says whether apply has something to write, or would have on another
// branch.
func (p *PlacePreview) Changed() bool {
	return p.State == promotion.Proposed && len(p.Files) > 0
}
