package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/queue"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/service/history"
	"promoter/internal/store"
	"promoter/internal/workspace"
)

// eventSlack is how much older than the refresh an image event may be and still count:
// the clocks of replicas differ.
const eventSlack = time.Minute

// maxFollowing is how many cycles of a reconciliation follow landings. Then it is queued
// again, after others that wait.
const maxFollowing = 5

// reconciler reconciles repositories. Its fields are what a work item passes through.
type reconciler struct {
	refresher *refresher // opens forges and repositories
	store     *store.Store
	retries   retryBackoff
	deferrals deferrals
	kept      workspace.Kept // from one reconciliation to the next
	recorder  recorder       // stores what was done and found
	onboarder onboarder
	report    reporter

	dryRun bool
	poll   time.Duration
	log    *slog.Logger
	now    func() time.Time
}

// handle reconciles one repository.
func (r *reconciler) handle(ctx context.Context, item queue.Item) (queue.Result, error) {
	// What is worked on: the forges, the repository, and what events made stale.
	current, release, err := r.refresher.acquire(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	defer release()
	known, ok := current.repositories[item.Key]
	if !ok {
		return r.unknown(ctx, item.Key, current)
	}
	events, err := r.store.ImageEvents.Since(ctx, current.eventsSince())
	if err != nil {
		return queue.Result{}, err
	}
	current.forgetAnswers(events, r.retries.retried(item.Key, r.now()), r.now())
	begin := r.now()
	repository := known.Reopen(ctx)
	if string(repository.Key()) != item.Key { // another repository has the name now
		return r.unknown(ctx, item.Key, current)
	}
	trigger, err := r.trigger(ctx, item)
	if err != nil {
		return queue.Result{}, err
	}

	// The reconciliation, and what is stored of it.
	done := r.reconcile(ctx, current, repository, func(ctx context.Context, c *config.Config, effects []outcome.Effect) {
		r.recorder.acted(ctx, repository, c, effects, trigger)
		r.report.acted(ctx, repository, item, effects)
	})
	if ctx.Err() != nil {
		return queue.Result{}, errors.Join(done.failed, context.Cause(ctx))
	}
	done.began, done.trigger = begin, trigger
	added, err := r.recorder.record(ctx, current, repository, done)

	// When it is worked on again.
	result := queue.Result{Next: earlier(nextChange(done.report, begin), r.retries.next(item.Key, done.report, r.now(), r.poll))}
	if !r.dryRun {
		result.Next = earlier(result.Next, r.deferrals.next(item.Key, done.report, r.now()))
	}
	// There is more to do, or an earlier event about what it subscribed to now did not trigger it.
	if added || done.report.Again {
		result.Next = r.now()
	}
	r.refresher.flush(current)
	changed := r.refresher.connections.TakeChangedImages()
	if failed := r.recorder.triggerFollowers(ctx, changed, item.Key); failed != nil { // they read it at their turn
		r.log.WarnContext(ctx, "could not trigger other repositories of an image", slog.Any("error", failed))
	}
	took := r.now().Sub(begin) // without the offer, which has a workspace of its own
	r.onboarder.offer(ctx, current, repository, done.report)
	r.report.write(ctx, repository, done.report, done.failed, took)
	return result, errors.Join(done.failed, err)
}

// unknown handles a key that the refresh does not contain: the repository could not be
// opened, another replica found it, or it is gone.
func (r *reconciler) unknown(ctx context.Context, key string, current *refresh) (queue.Result, error) {
	repository, err := r.store.Repository(ctx, key)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return queue.Result{}, err
	}
	if err := current.unopened(repository.Forge); err != nil {
		return queue.Result{}, fault.New(fault.Temporary,
			"it may be one that could not be opened, and is tried again with the next poll: %w", err)
	}
	if r.now().Sub(current.ready) > minRefreshInterval {
		if err := r.refresher.refresh(ctx, current.began); err != nil {
			return queue.Result{}, err
		}
		return queue.Result{Next: r.now()}, nil
	}
	r.retries.forget(key)
	if err := workspace.Remove(ctx, current.session, key); err != nil { // the operator revoked the access to it
		return queue.Result{}, err
	}
	r.log.InfoContext(ctx, "no longer following a repository", slog.String("key", key))
	return queue.Result{Forget: true}, r.store.DeleteRepository(ctx, key)
}

// trigger finds the webhook that triggered a run, if one did.
func (r *reconciler) trigger(ctx context.Context, item queue.Item) (store.Trigger, error) {
	if item.TriggeredAt.IsZero() {
		return store.Trigger{}, nil
	}
	by, err := r.store.TriggerSince(ctx, item.Key, item.TriggeredAt)
	if err != nil || by == (store.DeliveryRef{}) {
		return store.Trigger{}, err
	}
	return store.Trigger{DeliveryRef: by, At: item.TriggeredAt}, nil
}

// reconciled is how a reconciliation ended.
type reconciled struct {
	began    time.Time
	report   outcome.Report
	failed   error // about the whole repository; nil: there is a report
	landings history.Landings
	trigger  store.Trigger
}

// complete reports whether the reconciliation could read the repository.
func (o reconciled) complete() bool {
	return o.failed == nil && o.report.Config != nil && o.report.Unusable == ""
}

// reconcile opens a repository and reconciles it.
func (r *reconciler) reconcile(
	ctx context.Context, current *refresh, repository *connect.Repository, acted func(context.Context, *config.Config, []outcome.Effect),
) (done reconciled) {
	if repository.Err != nil {
		done.failed = repository.Err
		return done
	}
	options := workspace.Options{
		DryRun: r.dryRun, Log: loggerOf(r.log, repository), Trace: traceReconciliation(ctx, repository.Name, r.now),
		Freshness: r.store, Kept: r.kept, Seals: sealMemory{r.store, string(repository.Key())},
	}
	done.failed = workspace.Use(ctx, current.session, repository, options, func(ctx context.Context, w *workspace.Workspace) (err error) {
		w.Reconciler.Acted, w.Reconciler.MaxFollowing = acted, maxFollowing
		w.Reconciler.Clients.Evidence = newHealthReports(r.store, current.session.Server, repository)
		w.Reconciler.Users.CommentEvents = commentEvents{store: r.store, key: string(repository.Key())}
		done.report, err = w.Reconcile(ctx)
		done.landings = r.recorder.history.ReadLandings(ctx, &w.Reconciler, &done.report)
		return repository.Advise(err)
	})
	return done
}

// commentEvents are the new comments of one repository that webhooks reported. It implements
// comments.CommentEvents.
type commentEvents struct {
	store *store.Store
	key   string
}

// Digests implements comments.CommentEvents.
func (c commentEvents) Digests(ctx context.Context, comments []int64) (map[int64]string, error) {
	return c.store.CommentEvents.Digests(ctx, c.key, comments)
}

// nextChange returns when something in the repository changes without a trigger, for
// instance when a window opens or a soak ends. Zero: no such time is known. A time that
// passed since the reconciliation began counts: its decisions may be older.
func nextChange(report outcome.Report, began time.Time) (next time.Time) {
	consider := func(at time.Time) {
		if at.After(began) {
			next = earlier(next, at)
		}
	}
	consider(report.CommandsAt)
	for _, decision := range report.Decisions {
		consider(decision.Reason.Until)
		if newer, waits := decision.NewerWaits(); waits && newer.Until != nil {
			consider(*newer.Until)
		}
		if decision.Health != nil {
			consider(decision.Health.FailsAt)
		}
	}
	for _, effect := range report.Effects {
		consider(effect.Reason.Until)
		for _, gate := range effect.Gates {
			if effect.Action != outcome.ActionClosed && effect.Action != outcome.ActionMerged {
				consider(gate.Overdue)
			}
			if gate.Until != nil && effect.Action != outcome.ActionClosed && effect.Action != outcome.ActionMerged {
				consider(*gate.Until)
			}
		}
	}
	return next
}
