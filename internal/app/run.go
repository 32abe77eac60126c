package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"promoter/internal/promotion"

	"promoter/internal/engine"
)

// RunOptions say how a run works.
type RunOptions struct {
	DryRun   bool
	CacheDir string                              // keeps mirrors and facts about images; empty: nothing is kept
	Progress func(doing string, done, total int) // nil: not reported
	Note     func(string)                        // takes what was left out and why, a line each; nil: nobody listens
}

// Result is what came of one repository. Either there is an error about the whole
// of it, or a report.
type Result struct {
	Repository string // as it was written
	Report     engine.Report
	Onboarding *Onboarding // nil: it was not offered a config file
	Err        error
}

// Failed says whether any part of the repository failed.
func (r Result) Failed() bool {
	if r.Err == nil && r.Onboarding.waits() {
		return false
	}
	return r.Err != nil || r.Report.Failed() || slices.ContainsFunc(r.Report.Decisions, func(d promotion.Decision) bool {
		return d.State == promotion.Refused
	})
}

// Moved returns the name that the repository has now when it is not the one that
// was written.
func (r Result) Moved() (name string, moved bool) {
	name = r.Report.Name
	return name, name != "" && !strings.EqualFold(name, r.Repository)
}

// Run makes one pass over all repositories, each in its lane. The error is about
// the run as a whole; what fails in one repository is in its result and stops no
// other. The results are in the order of the repositories; they are there too when
// only the clearing up failed.
func (s *Server) Run(ctx context.Context, options RunOptions) ([]Result, error) {
	return s.pass(ctx, options, s.runRest(options), func(ctx context.Context, l *lane, result *Result) (err error) {
		l.DryRun = options.DryRun
		if result.Report, err = l.Reconcile(ctx); err == nil {
			result.Onboarding, err = l.onboard(ctx, result.Report)
		}
		return err
	})
}

// Observe looks at all repositories as Run does, and changes nothing.
func (s *Server) Observe(ctx context.Context, options RunOptions) ([]Result, error) {
	none := func(context.Context, *work) ([]Result, error) { return nil, nil }
	return s.pass(ctx, options, none, func(ctx context.Context, l *lane, result *Result) (err error) {
		l.DryRun = true // who may only read may ask
		result.Report, err = l.Observe(ctx)
		return err
	})
}

// pass does something in the lanes of all repositories, and then the rest.
func (s *Server) pass(
	ctx context.Context, options RunOptions, rest func(context.Context, *work) ([]Result, error), do func(context.Context, *lane, *Result) error,
) (_ []Result, err error) {
	w, err := s.begin(ctx, options.CacheDir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if options.Note != nil {
		for _, note := range w.notes {
			options.Note(note)
		}
	}
	results := make([]Result, len(w.repositories))
	watched := watch{progress: options.Progress, total: len(w.repositories)}
	watched.done(0)
	index := map[*repository]int{}
	for i, r := range w.repositories {
		index[r] = i
	}
	w.each(func(r *repository) {
		result := Result{Repository: r.name}
		result.Err = w.survive(ctx, r, func(l *lane) error { return advised(do(ctx, l, &result), r) })
		results[index[r]] = result
		watched.done(1)
	})
	more, err := rest(ctx, w)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return append(results, more...), err
}

// runRest offers a config file to the repositories that were found without one.
func (s *Server) runRest(options RunOptions) func(context.Context, *work) ([]Result, error) {
	return func(ctx context.Context, w *work) (more []Result, err error) {
		err = w.onboardAll(ctx, options.DryRun, func(r *repository, came *Onboarding, failed error) {
			if failed != nil || came.told() {
				more = append(more, Result{Repository: r.name, Onboarding: came, Err: failed})
			}
		})
		slices.SortFunc(more, func(a, b Result) int { return strings.Compare(a.Repository, b.Repository) })
		if note := w.onboarding.waitingNote(); note != "" && options.Note != nil {
			options.Note(note)
		}
		return more, err
	}
}

// watch counts repositories for whoever watches.
type watch struct {
	progress func(doing string, done, total int)
	total    int
	mutex    sync.Mutex
	count    int
}

func (w *watch) done(n int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.count += n
	if w.progress != nil {
		w.progress("reconciling repositories", w.count, w.total)
	}
}
