package app

import (
	"context"
	"runtime"
	"slices"

	"promoter/internal/promotion"

	"golang.org/x/sync/errgroup"

	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
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
func rewritingsOf(target *PlacePreview, from *inventory, references []edit.Reference) []*rewriting {
	moves := movesOf(target)
	var names []string
	for _, reference := range references {
		if _, moved := moves[reference.Component]; moved {
			names = append(names, reference.Position.File)
		}
	}
	slices.Sort(names)
	var jobs []*rewriting
	for _, name := range slices.Compact(names) {
		jobs = append(jobs, &rewriting{place: target, moves: moves, from: from, file: name})
	}
	return jobs
}

func movesOf(target *PlacePreview) map[string]image.Version {
	moves := make(map[string]image.Version, len(target.Moves))
	for _, move := range target.Moves {
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
		group.Go(func() (err error) {
			defer fault.Survive(&err)
			return job.run(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, job := range jobs {
		job.place.Refusals = append(job.place.Refusals, job.result.Refusals...)
	}
	for i := range preview.Places {
		if target := &preview.Places[i]; len(target.Moves) > 0 && len(target.Refusals) > 0 {
			target.refuse()
		}
	}
	if err := chain(ctx, jobs); err != nil {
		return err
	}
	for _, job := range jobs {
		if len(job.place.Refusals) == 0 {
			job.collect()
		}
	}
	return nil
}

// chain lets each place start from what an earlier one makes of the same file.
// Environments may share one, with different components.
func chain(ctx context.Context, jobs []*rewriting) error {
	type key struct {
		from *inventory
		file string
	}
	latest := map[key][]byte{}
	for _, job := range jobs {
		if job.place.State != promotion.Proposed || job.result.Content == nil {
			continue
		}
		at := key{job.from, job.file}
		if content, shared := latest[at]; shared {
			job.before = content
			job.rewrite(ctx)
			if len(job.result.Refusals) > 0 {
				return fault.New(fault.Internal, "%s cannot be written after another environment: %s", job.file, job.result.Refusals[0].Reason)
			}
		}
		latest[at] = job.result.Content
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
		r.result.Refusals = []edit.Refusal{{File: r.file, Reason: "cannot be read again: " + err.Error()}}
		return ctx.Err()
	}
	r.rewrite(ctx)
	return ctx.Err()
}

// rewrite makes the result from the bytes before.
func (r *rewriting) rewrite(ctx context.Context) {
	file := r.from.files[r.file]
	file.Read = func() ([]byte, error) { return r.before, nil }
	r.result = r.from.Rewrite(ctx, file, func(component string) (image.Version, bool) {
		version, moved := r.moves[component]
		return version, moved
	})
}

// collect adds what came of a file to its place.
func (r *rewriting) collect() {
	r.place.Changes = append(r.place.Changes, r.result.Changes...)
	r.place.Notes = append(r.place.Notes, r.result.Notes...)
	if r.result.Content != nil {
		r.place.Files = append(r.place.Files, FileEdit{Path: r.file, Before: r.before, After: r.result.Content})
	}
}

// refuse leaves the place as it is.
func (p *PlacePreview) refuse() {
	p.State = promotion.Refused
	p.Reason = promotion.RefusedBy(p.Refusals)
}

// Changed says whether apply has something to write, or would have on another
// branch.
func (p *PlacePreview) Changed() bool {
	return p.State == promotion.Proposed && len(p.Files) > 0
}
