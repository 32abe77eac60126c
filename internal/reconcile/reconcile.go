// Package reconcile reconciles one repository: it observes, plans, and acts.
//
// A reconciliation is level-triggered. It reads everything that a decision depends
// on: files and trailers from Git, user decisions from promoter/_state,
// versions from registries, pull requests from the forge. Whatever was lost,
// duplicated or interrupted before, the next reconciliation reaches the same
// result, and a second one in a row writes nothing. What changes branches is conditional on
// what was observed: a push on the old commit, a merge on the head. A conflict
// restarts the reconciliation.
//
// There is one kind of reconciliation. Where a cache has the decisions of the last one, those that nothing
// touched are taken from it; before versions are written, what is written is decided again without it.
//
// The phases pass values: observe.Reader returns an Observation, plan.Make a Plan, act.Actor what it did, and
// outcome.Of the Report. This file is the whole story. A dry run (Rehearse), a preview, an explanation, and a
// simulation are the same phases with other clients.
package reconcile

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/reconcile/act"
	"promoter/internal/reconcile/cache"
	"promoter/internal/reconcile/describe"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/plan"
	"promoter/internal/repo"
)

const (
	// maxAttempts is how often a reconciliation starts before a conflict is an error.
	maxAttempts = 5
	// firstDeferral is how long to wait for a merge that the forge defers, which doubles maxDeferrals times: 30 seconds in all.
	firstDeferral = 2 * time.Second
	maxDeferrals  = 4
	// maxFollowing is the default of MaxFollowing: more than any config has environments in
	// a chain.
	maxFollowing = 50
)

// Reconciler reconciles one repository. Its fields are dependencies and settings.
// Reconciliations of one Reconciler never overlap; those of several processes may
// race, and the repository decides who wins.
type Reconciler struct {
	Clients  observe.Clients  // every phase: the repository, and what belongs to it
	Users    observe.Users    // observing and acting: commands in comments, bypasses
	Server   observe.Server   // observing: what the server file decides
	Describe describe.Readers // acting: what pull requests show

	// Cache keeps decisions from one reconciliation to the next. Nil: each one decides about everything.
	Cache cache.Cache
	// ForgeReads is how many requests that only read are sent to the forge at the same time. Zero: one
	// after the other.
	ForgeReads int
	// MaxFollowing bounds the cycles that follow landings, so that steady releases do not
	// delay the end; the report has Again then. Zero: 50.
	MaxFollowing int

	// Defer waits before a merge is tried again that the forge does not make now. Nil: the caller does, by the report.
	Defer func(ctx context.Context, wait time.Duration) error

	// Acted is called with what was done, see act.Actor. Nil: it is only in the report.
	Acted func(ctx context.Context, c *config.Config, effects []outcome.Effect)
	// Progress is called while registries are queried and pull requests are opened, updated,
	// merged, and closed, from one goroutine at a time. Nil: not reported.
	Progress func(doing string, done, total int)
	Trace    outcome.Tracer // nil: nothing is traced
}

// Reconcile observes, plans and acts. It restarts on a conflict, and reconciles again
// after something landed or may land now, so that a second run in a row has nothing
// to do. The report contains partial errors; the returned error is about the whole
// repository.
func (r *Reconciler) Reconcile(ctx context.Context) (outcome.Report, error) {
	start, err := r.load(ctx)
	if err != nil {
		return outcome.Report{}, err
	}
	return r.repeat(ctx, start, r.attempt, outcome.Report.After)
}

// load returns what the first attempt starts from.
func (r *Reconciler) load(ctx context.Context) (start observe.Start, err error) {
	if r.Cache != nil {
		start.Entry, start.Changed, err = r.Cache.Load(ctx)
	}
	return start, err
}

// attempted is what one attempt leaves.
type attempted struct {
	report outcome.Report
	entry  *cache.Entry // for the next one; nil: it decides about everything
	refs   *repo.Refs   // the branches, with our own pushes since they were listed; nil: list them
	again  bool         // another one should follow at once
	stale  bool         // nothing was done, because decisions of the cache are not those made again
}

// repeat attempts until nothing more follows.
func (r *Reconciler) repeat(
	ctx context.Context, start observe.Start, attempt func(context.Context, observe.Start, *repo.Refs) (attempted, error),
	after func(report, before outcome.Report) outcome.Report,
) (report outcome.Report, err error) {
	var known *repo.Refs
	deferrals := 0
	for following, number := 0, 1; ; {
		start.LastAttempt = number == maxAttempts
		done, err := attempt(ctx, start, known)
		report = after(done.report, report)
		if r.Cache != nil {
			r.Cache.Store(done.entry)
		}
		start, known = observe.Start{Entry: done.entry}, done.refs
		switch {
		case fault.KindOf(err) == fault.Conflict && number < maxAttempts:
			r.Clients.Log.DebugContext(ctx, "restarting after a conflict", slog.Any("error", err))
			if err := r.Clients.Wait(ctx, number); err != nil {
				return report, err
			}
			number++
		case err == nil && done.stale: // the next one has no entry
			r.Clients.Log.WarnContext(ctx, "kept decisions are made again", slog.String("difference", done.report.Mismatch))
		case err == nil && done.again && following < cmp.Or(r.MaxFollowing, maxFollowing):
			following, number = following+1, 1
		case err == nil && r.Defer != nil && done.report.Defers() && deferrals < maxDeferrals:
			if err := r.Defer(ctx, firstDeferral<<deferrals); err != nil {
				return report, err
			}
			deferrals++
			number, known = 1, nil
		default:
			report.Again = err == nil && done.again
			return report, err
		}
	}
}

// attempt observes, plans, and acts once.
func (r *Reconciler) attempt(ctx context.Context, start observe.Start, known *repo.Refs) (done attempted, err error) {
	ctx, end := r.Trace.Begin(ctx, "attempt")
	defer func() { end(nil, err) }()
	o, err := r.observe(ctx, r.reader(), start, known)
	if err == nil && o.Unusable != "" {
		o, err = act.FailConfig(ctx, r.Clients, o, start.LastAttempt)
	}
	if err != nil || o.Unusable != "" {
		return attempted{report: outcome.Unplanned(o)}, err
	}
	made, err := r.plan(ctx, o)
	if err != nil {
		return attempted{report: outcome.Unplanned(o)}, err
	}
	mismatch, err := r.revalidate(ctx, o, made)
	if err != nil || mismatch != "" {
		done.report, done.stale = outcome.Unplanned(o), mismatch != ""
		done.report.Mismatch = mismatch
		return done, err
	}

	acted, err := r.actor().CarryOut(ctx, o, made, start.LastAttempt)
	if acted.Landed && fault.KindOf(err) == fault.Conflict {
		err = nil // it restarts anyway, and this is no failed attempt
	}
	done.report = outcome.Of(acted.Observation, acted.Plan, acted.Effects)
	done.again = acted.Landed || acted.Again
	if err == nil { // from what was read: the next attempt finds our own effects as differences
		done.entry = done.report.Entry(o, made)
	}
	if err == nil && !done.report.Failed() {
		done.refs = acted.Refs()
	}
	return done, err
}

// observe observes, with branches that need not be listed again. Over the budget of the reconciliation, and with a damaged
// copy of the repository, nothing is planned: what is missing would be chance.
func (r *Reconciler) observe(
	ctx context.Context, reader observe.Reader, start observe.Start, known *repo.Refs,
) (o observe.Observation, err error) {
	ctx, end := r.Trace.Begin(ctx, "observe")
	defer func() { end(nil, err) }()
	if known != nil {
		reader.Clients.Remote = repo.Listed{Remote: reader.Clients.Remote, Known: *known}
	}
	o, err = reader.Observe(ctx, start)
	if damage := r.Clients.Damaged(); damage != nil { // whatever seems to be wrong with the repository
		return o, damage
	}
	if err != nil {
		return o, err
	}
	return o, o.Failures.Exhausted()
}

func (r *Reconciler) plan(ctx context.Context, o observe.Observation) (made plan.Plan, err error) {
	ctx, end := r.Trace.Begin(ctx, "plan")
	defer func() { end(nil, err) }()
	return o.Plan(ctx)
}

// revalidate decides again about the applications that a plan writes, if decisions of a cache are among those of
// the plan, from files, history, and user decisions that are read again, and from the registries' answers as a
// reconciliation without a cache has them. A limit that others no longer fill can make a kept decision one that is
// written. It returns how the decisions differ; empty: they do not.
func (r *Reconciler) revalidate(ctx context.Context, o observe.Observation, made plan.Plan) (mismatch string, err error) {
	written := made.Written()
	if o.Entry == nil || len(written) == 0 {
		return "", nil
	}
	fresh, err := r.reader().Reread(ctx, o, written)
	if err != nil {
		return "", err
	}
	return made.Mismatch(ctx, fresh, o.Now)
}

func (r *Reconciler) reader() observe.Reader {
	return observe.Reader{Clients: r.Clients, Users: r.Users, Server: r.Server, Parallel: r.ForgeReads, Progress: r.Progress}
}

// quietReader reads everything but commands in comments.
func (r *Reconciler) quietReader() observe.Reader {
	reader := r.reader()
	reader.Users.Permissions = nil
	return reader
}

func (r *Reconciler) actor() act.Actor {
	return act.Actor{Clients: r.Clients, Users: r.Users, Describe: r.Describe, Acted: r.Acted, Trace: r.Trace, Progress: r.Progress}
}

// Preview observes and plans, and changes nothing. The report contains the proposals
// as Reconcile would carry them out. With a Cache, it reuses decisions as Reconcile would.
func (r *Reconciler) Preview(ctx context.Context) (outcome.Report, error) {
	start, err := r.load(ctx)
	if err != nil {
		return outcome.Report{}, err
	}
	start.LastAttempt = true
	o, err := r.observe(ctx, r.quietReader(), start, nil)
	if err != nil || o.Unusable != "" {
		return outcome.Unplanned(o), err
	}
	made, err := r.plan(ctx, o)
	if err != nil {
		return outcome.Unplanned(o), err
	}
	return outcome.Preview(o, made), nil
}
