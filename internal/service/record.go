package service

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/drift"
	"promoter/internal/event"
	"promoter/internal/image"
	"promoter/internal/queue"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/service/history"
	"promoter/internal/service/notifications"
	"promoter/internal/store"
)

// recorder stores what reconciliations did and found, and what follows from it: messages, requests to GitOps
// engines, subscriptions, and schedules.
type recorder struct {
	db           *database.DB
	store        *store.Store
	queue        *queue.Queue
	history      *history.Recorder
	afterLanding afterLanding
	schedules    schedules
	dryRun       bool
	log          *slog.Logger
	now          func() time.Time
}

// acted records actions when they happen: a process that is killed later has done so.
func (r recorder) acted(
	ctx context.Context, repository *connect.Repository, c *config.Config, effects []outcome.Effect, trigger store.Trigger,
) {
	events := r.history.Actions(history.RepositoryOf(repository), effects, trigger)
	// What was done is recorded, also if the process is about to end.
	if err := r.recordActions(context.WithoutCancel(ctx), repository, c, events); err != nil {
		r.log.DebugContext(ctx, "history not written yet", slog.Any("error", err)) // it is written again at the end
	}
}

// recordActions adds what was just done to the history, and asks GitOps engines to deploy it.
func (r recorder) recordActions(ctx context.Context, repository *connect.Repository, c *config.Config, events []store.Event) error {
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

// record stores the outcome of a reconciliation in one transaction. It reports whether
// the repository has new subscriptions.
func (r recorder) record(ctx context.Context, current *refresh, repository *connect.Repository, o reconciled) (added bool, err error) {
	stored := history.RepositoryOf(repository)
	stored.BeganAt = o.began
	stored.Name, stored.Failure = cmp.Or(o.report.Name, stored.Name), failureOf(o.report, o.failed)
	update, written := r.history.Update(stored, o.report, o.trigger, o.landings)
	if !r.dryRun { // which finds the same each time
		update.Events = append(update.Events, r.history.Incidents(stored, o.report.Errors)...)
	}
	known, err := r.store.Details.Digest(ctx, stored.Key)
	if err != nil {
		return false, err
	}
	found, digest, changed, err := r.history.Found(o.report, known)
	if err != nil {
		return false, err
	}
	landings := newLandings(o.report.Config, o.report.Default, o.landings, update.Events)
	requests, err := r.afterLanding.requests(ctx, repository, o.report.Config, landings)
	if err != nil {
		return false, err
	}
	source := r.notifySource(current, repository, stored, o)
	if o.complete() && !r.dryRun && stored.Failure == "" {
		if unusable := source.Unusable(); unusable != nil {
			stored.Failure = unusable.Error()
			r.log.WarnContext(ctx, "notification not sent", slog.String("repository", repository.Name), slog.Any("error", unusable))
		}
	}
	err = r.db.Update(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		first, err := r.isFirst(ctx, tx, stored.Key, o)
		if err != nil {
			return err
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
		if err := r.afterLanding.triggerIn(ctx, tx, requests, events); err != nil || !o.complete() {
			return err // without a config, the stored drift stays, and events wait for the next reconciliation
		}
		if err := r.store.Targets.SetDrift(ctx, tx, stored.Key, driftText(o.report.Drift)); err != nil {
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

// isFirst reports whether messages about a repository are considered for the first time.
func (r recorder) isFirst(ctx context.Context, tx *database.Tx, key string, o reconciled) (bool, error) {
	if !o.complete() {
		return false, nil
	}
	return r.store.Notifications.IsFirst(ctx, tx, key)
}

// storeFound stores what a reconciliation found. An incremental one has the targets of the touched
// applications, which suffice unless a target came or went.
func (r recorder) storeFound(
	ctx context.Context, tx *database.Tx, key string, report outcome.Report, found history.Found, digest store.FoundDigest,
) error {
	incremental, written := found.Touched != nil && found.Usable, 0
	if incremental {
		var err error
		incremental, written, err = r.store.Targets.SetOf(ctx, tx, key, report.Config.Order(), found.Touched, found.Targets)
		if err != nil {
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

// notifySource returns what messages are about. A dry run sends nothing.
func (r recorder) notifySource(
	current *refresh, repository *connect.Repository, stored store.Repository, o reconciled,
) notifications.Source {
	server := current.session.Server
	return notifications.Source{
		Repository: stored, Config: o.report.Config, URL: server.File.URL,
		MayUse: func(destination string) bool { return !r.dryRun && server.MayNotify(destination, repository.Matches) },
	}
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
func (r recorder) subscribe(
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

// triggerFollowers triggers the other repositories that follow images which registries
// answered about differently than before: repositories share responses, so that one of
// them reads an image for all. It is as if a webhook had reported the image.
func (r recorder) triggerFollowers(ctx context.Context, changed []image.Repository, key string) error {
	if len(changed) == 0 {
		return nil
	}
	return r.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		var images []event.Image
		var triggers []queue.Trigger
		for _, one := range changed {
			named := event.Image{Host: one.Host(), Path: one.Path()}
			followers, err := r.store.Subscribers(ctx, tx, "", event.Event{Kind: event.KindImage, Image: named})
			if err != nil {
				return err
			}
			followers = slices.DeleteFunc(followers, func(follower string) bool { return follower == key })
			if len(followers) > 0 {
				images = append(images, named)
				triggers = append(triggers, repositoryTriggers(followers)...)
			}
		}
		if err := r.store.ImageEvents.Record(ctx, tx, images); err != nil {
			return err
		}
		return r.queue.TriggerIn(ctx, tx, triggers...)
	})
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
