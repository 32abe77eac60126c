package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/activity"
	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/onboarding"
	"promoter/internal/promotion"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/service/history"
	"promoter/internal/service/notifications"
	"promoter/internal/simulate"
	"promoter/internal/store"
	"promoter/internal/workspace"
)

// RunOptions configure a run.
type RunOptions struct {
	DryRun   bool
	CacheDir string                              // keeps mirrors and digests of images; empty: nothing is kept
	Progress func(doing string, done, total int) // nil: not reported
	Note     func(string)                        // is called with what was omitted and why; nil: not reported
	// Defer waits before merges are tried again that a forge does not make now. Nil: the next run tries them.
	Defer func(ctx context.Context, wait time.Duration) error
	// Acted is called with what was done in a repository, when it was done. Several
	// repositories may call it at the same time. Nil: it is only in the result.
	Acted func(repository string, effects []outcome.Effect)
	// Offered is the same for a config file that was offered. Nil: it is only in the result.
	Offered func(repository string, result onboarding.Result)
}

// deferring returns how to wait for a merge that a forge does not make now, as an activity that a user sees.
func (o RunOptions) deferring() func(ctx context.Context, wait time.Duration) error {
	if o.Defer == nil {
		return nil
	}
	return func(ctx context.Context, wait time.Duration) error {
		defer activity.Begin(ctx, "waiting for a merge that the forge does not make yet")()
		return o.Defer(ctx, wait)
	}
}

// offered announces a result that changed something.
func (o RunOptions) offered(repository string, result *onboarding.Result) {
	if o.Offered != nil && result.Acted() {
		o.Offered(repository, *result)
	}
}

// Result is the result of one repository: an error about all of it, or a report.
type Result struct {
	Repository string // as the user or the server file names it
	Report     outcome.Report
	Onboarding *onboarding.Result // nil: it was not offered a config file
	Unsent     []error            // notifications that were not sent
	Simulation *simulate.Result   // of Simulate
	// Unfinished is set if the run was interrupted before the repository was done. The
	// report then has what was done before.
	Unfinished bool
	Err        error
}

// Failed reports whether any part of the repository failed.
func (r Result) Failed() bool {
	if r.Err == nil && r.Onboarding.Pending() {
		return false
	}
	return r.Unfinished || r.Err != nil || r.Report.Failed() || slices.ContainsFunc(r.Report.Decisions, func(d promotion.Decision) bool {
		return d.Refused()
	})
}

// Moved returns the current name of the repository if it was renamed.
func (r Result) Moved() (name string, moved bool) {
	name = r.Report.Name
	return name, name != "" && !strings.EqualFold(name, r.Repository)
}

// Run reconciles all repositories once, several at a time. The error is about the run as a
// whole; a failure in one repository is in its result and does not affect others. The
// results are in the order of the repositories, and complete even if the cleanup failed or
// the run was interrupted.
func Run(ctx context.Context, c *connect.Connections, options RunOptions) ([]Result, error) {
	c.ReserveMemory()
	results, err := forAll(ctx, c, options, onboardRest(options),
		func(ctx context.Context, batch *onboarding.Batch, w *workspace.Workspace, result *Result) (err error) {
			if options.Acted != nil {
				w.Reconciler.Acted = func(_ context.Context, _ *config.Config, effects []outcome.Effect) {
					options.Acted(result.Repository, effects)
				}
			}
			if len(c.Server.Targets) == 1 {
				w.Reconciler.Progress = options.Progress // of several, their number is reported
			}
			w.Reconciler.Defer = options.deferring()
			result.Report, err = w.Reconcile(ctx)
			if !options.DryRun {
				result.Unsent = sendNotifications(ctx, c, w.Repository, result.Report)
			}
			if err != nil {
				return err
			}
			result.Onboarding, err = batch.Offer(ctx, w, result.Report)
			options.offered(result.Repository, result.Onboarding)
			return err
		})
	for _, result := range results {
		for _, unsent := range result.Unsent {
			if options.Note != nil {
				options.Note(unsent.Error())
			}
		}
	}
	return results, err
}

// notifyTimeout limits the time for all messages about one repository, and lastNotifyTimeout what is left of it when the
// run is interrupted.
const (
	notifyTimeout     = time.Minute
	lastNotifyTimeout = 10 * time.Second
)

// sendNotifications sends messages about what was done in a repository, also if the run was
// interrupted after that. It returns the errors: they do not fail the run.
func sendNotifications(ctx context.Context, c *connect.Connections, r *connect.Repository, report outcome.Report) []error {
	if report.Config == nil {
		return nil
	}
	run := ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	defer context.AfterFunc(run, func() { time.AfterFunc(lastNotifyTimeout, cancel) })()
	source := notifications.Source{
		Repository: history.RepositoryOf(r), Config: report.Config, URL: c.Server.File.URL,
		MayUse: func(destination string) bool { return c.Server.MayNotify(destination, r.Matches) },
	}
	recorder := history.Recorder{Now: c.Server.Now}
	return notifications.Direct(ctx, source, recorder.Actions(source.Repository, report.Effects, store.Trigger{}), c.NotificationSender)
}

// Explain reads all repositories like Run, answers a question about them, and changes nothing.
func Explain(ctx context.Context, c *connect.Connections, options RunOptions, q reconcile.Question) ([]Result, error) {
	return forAll(ctx, c, readOnly(options), nil,
		func(ctx context.Context, _ *onboarding.Batch, w *workspace.Workspace, result *Result) (err error) {
			result.Report, err = w.Reconciler.Explain(ctx, q)
			return err
		})
}

// Simulate simulates all repositories, and changes nothing.
func Simulate(ctx context.Context, c *connect.Connections, options RunOptions, simulated simulate.Options) ([]Result, error) {
	return forAll(ctx, c, readOnly(options), nil,
		func(ctx context.Context, _ *onboarding.Batch, w *workspace.Workspace, result *Result) error {
			simulation, err := simulate.Run(ctx, w.Reconciler, simulated)
			result.Simulation, result.Report = &simulation, simulation.Report
			return err
		})
}

// readOnly returns options with which read access is enough.
func readOnly(options RunOptions) RunOptions {
	options.DryRun = true
	return options
}

// doFunc works on one opened repository.
type doFunc func(ctx context.Context, batch *onboarding.Batch, w *workspace.Workspace, result *Result) error

// forAll opens all repositories, calls do for each of them, and then rest, if it is not
// nil, for those without a config file.
func forAll(
	ctx context.Context, c *connect.Connections, options RunOptions,
	rest func(context.Context, *connect.Session, *onboarding.Batch) ([]Result, error), do doFunc,
) (_ []Result, err error) {
	opened := activity.Begin(ctx, "opening the repositories")
	session, err := c.Open(ctx, options.CacheDir)
	opened()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	if options.Note != nil {
		for _, note := range session.Notes {
			options.Note(note)
		}
	}
	batch := onboarding.NewBatch(session)
	results := make([]Result, len(session.Repositories))
	progress := counter{progress: options.Progress, total: len(session.Repositories)}
	progress.add(0)
	index := map[*connect.Repository]int{}
	for i, r := range session.Repositories {
		index[r] = i
	}
	session.Each(func(r *connect.Repository) {
		defer activity.Begin(ctx, r.Name)()
		result := Result{Repository: r.Name}
		result.Err = workspace.Try(ctx, session, r, workspace.Options{DryRun: options.DryRun},
			func(ctx context.Context, w *workspace.Workspace) error {
				return r.Advise(do(ctx, batch, w, &result))
			})
		if ctx.Err() != nil && result.Err != nil {
			result.Unfinished, result.Err = true, nil
		}
		results[index[r]] = result
		progress.add(1)
	})
	var more []Result
	if rest != nil && ctx.Err() == nil {
		more, err = rest(ctx, session, batch)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return append(results, more...), err
}

// onboardRest opens onboarding pull requests for the repositories that were found
// without a config file.
func onboardRest(options RunOptions) func(context.Context, *connect.Session, *onboarding.Batch) ([]Result, error) {
	return func(ctx context.Context, session *connect.Session, batch *onboarding.Batch) (more []Result, err error) {
		err = batch.OfferAll(ctx, session, options.DryRun, func(r *connect.Repository, result *onboarding.Result, failed error) {
			options.offered(r.Name, result)
			if failed != nil || result.Reportable() {
				more = append(more, Result{Repository: r.Name, Onboarding: result, Err: failed})
			}
		})
		slices.SortFunc(more, func(a, b Result) int { return strings.Compare(a.Repository, b.Repository) })
		if note := batch.WaitingNote(); note != "" && options.Note != nil {
			options.Note(note)
		}
		return more, err
	}
}

// counter reports the progress of a run.
type counter struct {
	progress func(doing string, done, total int)
	total    int
	mutex    sync.Mutex
	count    int
}

func (c *counter) add(n int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.count += n
	if c.progress != nil {
		c.progress("reconciling repositories", c.count, c.total)
	}
}
