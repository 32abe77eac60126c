package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/drift"
	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/queue"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scan"
	"promoter/internal/service/history"
	"promoter/internal/service/notifications"
	"promoter/internal/store"
	"promoter/internal/workspace"
)

// eventSlack is how much older than the refresh an image event may be and still count:
// the clocks of replicas differ.
const eventSlack = time.Minute

// maxFollowing is how many cycles of a reconciliation follow landings. Then it is queued
// again, after others that wait.
const maxFollowing = 5

// reconciler reconciles repositories and records the results.
type reconciler struct {
	refresher    *refresher
	schedules    schedules
	onboarder    onboarder
	db           *database.DB
	store        *store.Store
	history      *history.Recorder
	retries      retryBackoff
	report       reporter
	afterLanding afterLanding
	scans        *scan.Memory
	observations *workspace.Observations
	mirrors      *git.Memory
	queue        *queue.Queue
	dryRun       bool
	poll         time.Duration
	log          *slog.Logger
	now          func() time.Time
}

// handle reconciles one repository.
func (r *reconciler) handle(ctx context.Context, item queue.Item) (queue.Result, error) {
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
	current.invalidate(events, r.retries.retried(item.Key, r.now()), r.now())
	begin, reopened := r.now(), known.Reopen(ctx)
	if reopened.SCM != nil && string(reopened.Key()) != item.Key { // another repository has the name now
		return r.unknown(ctx, item.Key, current)
	}
	trigger, err := r.trigger(ctx, item)
	if err != nil {
		return queue.Result{}, err
	}
	report, landings, failed := r.reconcile(ctx, current, reopened, r.acted(known, item, trigger))
	if ctx.Err() != nil {
		return queue.Result{}, errors.Join(failed, context.Cause(ctx))
	}
	result := queue.Result{Next: earlier(nextChange(report, begin), r.retries.next(item.Key, report, r.now(), r.poll))}
	added, err := r.record(ctx, current, known, reconciled{began: begin, report: report, failed: failed, landings: landings, trigger: trigger})
	if added || report.Again {
		result.Next = r.now() // an earlier event about what it subscribed to now did not trigger it
	}
	r.refresher.flush(current)
	if failed := r.triggerFollowers(ctx, item.Key); failed != nil {
		r.log.WarnContext(ctx, "could not trigger other repositories of an image", slog.Any("error", failed)) // they read it at their turn
	}
	took := r.now().Sub(begin)
	r.onboarder.offer(ctx, current, reopened, report)
	r.report.measure(report, failed, took)
	r.report.write(ctx, known, report, failed, took)
	return result, errors.Join(failed, err)
}

// unknown handles a key that the refresh does not contain: the repository could not be
// opened, another replica found it, or it is gone.
func (r *reconciler) unknown(ctx context.Context, key string, current *refresh) (queue.Result, error) {
	repository, err := r.store.Repository(ctx, key)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return queue.Result{}, err
	}
	if err := current.unopened(repository.Forge); err != nil {
		return queue.Result{}, fault.New(fault.Temporary, "it may be one that could not be opened, and is tried again with the next poll: %w", err)
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

// actedFunc is called with what was done.
type actedFunc = func(context.Context, *config.Config, []outcome.Effect)

// acted returns what logs, counts, and records actions when they happen. A process that
// is killed later has done so.
func (r *reconciler) acted(repository *connect.Repository, item queue.Item, trigger store.Trigger) actedFunc {
	return func(ctx context.Context, c *config.Config, effects []outcome.Effect) {
		// What was done is recorded, also if the process is about to end.
		if err := r.recordActions(context.WithoutCancel(ctx), repository, c, r.history.Actions(history.RepositoryOf(repository), effects, trigger)); err != nil {
			r.log.DebugContext(ctx, "history not written yet", slog.Any("error", err)) // it is written again at the end
		}
		r.report.acted(ctx, repository, item, effects)
	}
}

// recordActions adds what was just done to the history, and asks GitOps engines to deploy it.
func (r *reconciler) recordActions(ctx context.Context, repository *connect.Repository, c *config.Config, events []store.Event) error {
	if len(events) == 0 {
		return nil
	}
	requests, err := r.afterLanding.requests(ctx, repository, c, events)
	if err != nil {
		return err
	}
	return r.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		added, err := r.store.AddEvents(ctx, tx, events)
		if err != nil {
			return err
		}
		return r.afterLanding.triggerIn(ctx, tx, requests, added)
	})
}

func (r *reconciler) reconcile(
	ctx context.Context, current *refresh, repository *connect.Repository, acted actedFunc,
) (report outcome.Report, landings history.Landings, err error) {
	if repository.Err != nil { // it could not be opened again: it has no key
		return report, landings, repository.Err
	}
	options := workspace.Options{
		DryRun: r.dryRun, Log: loggerOf(r.log, repository), Trace: traceReconciliation(ctx, repository.Name, r.now), Freshness: r.store, Scans: r.scans,
		Observations: r.observations, Mirrors: r.mirrors,
		Seals: sealMemory{r.store, string(repository.Key())},
	}
	err = workspace.Use(ctx, current.session, repository, options, func(ctx context.Context, w *workspace.Workspace) (err error) {
		w.Reconciler.Acted, w.Reconciler.MaxFollowing = acted, maxFollowing
		w.Reconciler.Clients.Evidence = newHealthReports(r.store, current.session.Server, repository)
		w.Reconciler.Users.CommentEvents = commentEvents{store: r.store, key: string(repository.Key())}
		report, err = w.Reconcile(ctx)
		landings = r.history.ReadLandings(ctx, &w.Reconciler, &report)
		return repository.Advise(err)
	})
	return report, landings, err
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

// record stores the outcome of a reconciliation in one transaction. It reports whether
// the repository has new subscriptions.
func (r *reconciler) record(ctx context.Context, current *refresh, repository *connect.Repository, o reconciled) (added bool, err error) {
	stored := history.RepositoryOf(repository)
	stored.BeganAt = o.began
	stored.Name, stored.Failure = cmp.Or(o.report.Name, stored.Name), failureOf(o.report, o.failed)
	update, written := r.history.Update(stored, o.report, o.trigger, o.landings)
	known, err := r.store.Details.Digest(ctx, stored.Key)
	if err != nil {
		return false, err
	}
	found, digest, changed, err := r.history.Found(o.report, known)
	if err != nil {
		return false, err
	}
	requests, err := r.afterLanding.requests(ctx, repository, o.report.Config, newLandings(o.report.Config, o.report.Default, o.landings, update.Events))
	if err != nil {
		return false, err
	}
	source, notifies := r.notifySource(current, repository, stored, o)
	if notifies && !r.dryRun && stored.Failure == "" {
		if unusable := source.Unusable(); unusable != nil {
			stored.Failure = unusable.Error()
			r.log.WarnContext(ctx, "notification not sent", slog.String("repository", repository.Name), slog.Any("error", unusable))
		}
	}
	err = r.db.Update(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		first := false
		if notifies {
			if first, err = r.store.Notifications.IsFirst(ctx, tx, stored.Key); err != nil {
				return err
			}
		}
		if changed {
			if err := r.storeFound(ctx, tx, stored.Key, o.report, found, digest); err != nil {
				return err
			}
		}
		if added, err = r.subscribe(ctx, tx, stored.Key, current, o.report); err != nil {
			return err
		}
		events, err := r.store.RecordReconciliation(ctx, tx, stored, update)
		if err != nil {
			return err
		}
		if o.complete() { // else what was found before stays
			if err := r.store.Targets.SetDrift(ctx, tx, stored.Key, driftText(o.report.Drift)); err != nil {
				return err
			}
		}
		if err := r.afterLanding.triggerIn(ctx, tx, requests, events); err != nil || !notifies {
			return err
		}
		messages, err := notifications.Add(ctx, tx, r.store, source, o.report.Decisions, first, o.began, r.now())
		if err != nil {
			return err
		}
		return r.queue.TriggerIn(ctx, tx, notificationTriggers(repository, messages)...)
	})
	if err != nil {
		return false, err
	}
	written()
	return added, nil
}

// storeFound stores what a reconciliation found. An incremental one has the targets of the touched
// applications, which suffice unless a target came or went.
func (r *reconciler) storeFound(
	ctx context.Context, tx *database.Tx, key string, report outcome.Report, found history.Found, digest store.FoundDigest,
) error {
	incremental, written := found.Touched != nil && found.Usable, 0
	if incremental {
		var err error
		if incremental, written, err = r.store.Targets.SetOf(ctx, tx, key, report.Config.Order(), found.Touched, found.Targets); err != nil {
			return err
		}
		if !incremental {
			found.Targets = r.history.All(report)
		}
	}
	if incremental {
		if err := r.store.Details.Change(ctx, tx, key, found.Detail, written > 0); err != nil {
			return err
		}
		return r.store.Snapshots.Restore(ctx, tx, found.Posted)
	}
	if err := r.store.Details.Set(ctx, tx, key, digest, found.Detail); err != nil || !found.Usable {
		return err
	}
	if err := r.store.Targets.Set(ctx, tx, key, found.Targets); err != nil {
		return err
	}
	return r.store.Snapshots.Restore(ctx, tx, found.Posted)
}

// notifySource returns what messages are about. It returns false without a config, which names the
// destinations: events then wait for the next reconciliation. A dry run sends nothing.
func (r *reconciler) notifySource(
	current *refresh, repository *connect.Repository, stored store.Repository, o reconciled,
) (notifications.Source, bool) {
	server := current.session.Server
	return notifications.Source{
		Repository: stored, Config: o.report.Config, URL: server.File.URL,
		MayUse: func(destination string) bool { return !r.dryRun && server.MayNotify(destination, repository.Matches) },
	}, o.complete()
}

// notificationTriggers returns the triggers that send messages.
func notificationTriggers(repository *connect.Repository, messages []string) []queue.Trigger {
	triggers := make([]queue.Trigger, 0, len(messages))
	for _, id := range messages {
		triggers = append(triggers, queue.Trigger{Kind: KindNotification, Key: id, Tenant: repository.Tenant()})
	}
	return triggers
}

// driftText returns the drift as it is stored; empty: there is none.
func driftText(found []drift.Drift) string {
	text, err := json.Marshal(found)
	if err != nil || len(found) == 0 { // it has only text and numbers
		return ""
	}
	return string(text)
}

// subscribe stores the subscriptions and schedules of a config. It reports whether there
// are new subscriptions. Without a config both stay as they are.
func (r *reconciler) subscribe(
	ctx context.Context, tx *database.Tx, key string, current *refresh, report outcome.Report,
) (added bool, err error) {
	c := report.Config
	if c == nil {
		return false, nil
	}
	if added, err = r.store.SetSubscriptions(ctx, tx, key, current.subscriptions(c, report.Decisions)); err != nil {
		return false, err
	}
	return added, r.schedules.set(ctx, tx, key, c)
}

// failureOf returns why a reconciliation failed, in one line.
func failureOf(report outcome.Report, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case report.Unusable != "":
		return report.Unusable
	case len(report.Errors) > 0:
		return report.Errors[0].What + ": " + report.Errors[0].Err.Error()
	}
	for _, effect := range report.Effects {
		if effect.Err != nil {
			return fmt.Sprintf("%s in %s: %v", effect.Step, effect.Environment.Name, effect.Err)
		}
	}
	return ""
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
		if decision.Health != nil {
			consider(decision.Health.FailsAt)
		}
	}
	for _, effect := range report.Effects {
		consider(effect.Reason.Until)
	}
	return next
}
