package service

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/evidence"
	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// Inbox stores webhooks together with the work that they trigger. Webhooks that arrive
// while a transaction is being committed wait for it, and share the next one: otherwise
// those about one repository would wait for each other's commit, one after the other.
type Inbox struct {
	db        *database.DB
	queue     *queue.Queue
	store     *store.Store
	discovery *discovery
	retention retentionTrigger
	metrics   *telemetry.Metrics
	debounce  time.Duration
	log       *slog.Logger

	mu      sync.Mutex
	waiting []*pendingWebhook
	writing bool // a goroutine stores those that wait
}

// maxBatch limits the webhooks of one transaction.
const maxBatch = 64

// pendingWebhook is a webhook that waits to be stored.
type pendingWebhook struct {
	ctx      context.Context //nolint:containedctx // of the request that waits
	accepted server.Accepted
	trace    string
	cleanup  []queue.Trigger
	triggers []queue.Trigger // set when it is stored
	stored   chan error
}

// Accept implements server.Inbox: the delivery and the work that it triggers are on disk
// together, or neither is. It refuses reports of users that nothing would use.
func (i *Inbox) Accept(ctx context.Context, accepted server.Accepted) error {
	if err := i.checkPosted(ctx, accepted); err != nil {
		return err
	}
	_, err := i.Store(ctx, accepted)
	return err
}

// Store is Accept, and returns the keys of the repositories that the delivery triggers.
func (i *Inbox) Store(ctx context.Context, accepted server.Accepted) (keys []string, err error) {
	trace := telemetry.Parent(ctx)
	ctx, span := telemetry.Begin(ctx, "store")
	webhook := &pendingWebhook{
		ctx: ctx, accepted: accepted, trace: trace, cleanup: i.retention.add(accepted.Body, accepted.Events), stored: make(chan error, 1),
	}
	i.enqueue(webhook)     //nolint:contextcheck // each webhook has its own
	err = <-webhook.stored // the database limits the time
	keys = repositoryKeys(webhook.triggers)
	span.Set(slog.Any("promoter.keys", first(keys)))
	span.End(err)
	if err != nil {
		return nil, fmt.Errorf("store the delivery %s of %s: %w", accepted.ID, accepted.Receiver, err)
	}
	// By the keys, the log lines of the reconciliations that it triggered are found.
	log := i.log
	if len(accepted.Reports) > 0 && len(keys) == 0 {
		log = log.With(slog.String("ignored", "no repository that promoter knows is deployed from there, or names the object in health"))
	}
	log = log.With(slog.String("receiver", accepted.Receiver), slog.String("delivery", accepted.ID))
	log.InfoContext(ctx, "webhook received", slog.String("event", accepted.EventType), slog.Int("events", len(accepted.Events)),
		slog.Any("keys", first(keys)))
	return keys, nil
}

// enqueue adds a webhook to those that wait, and starts to store them unless that is in
// progress.
func (i *Inbox) enqueue(webhook *pendingWebhook) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.waiting = append(i.waiting, webhook)
	if !i.writing {
		i.writing = true
		go i.storeWaiting()
	}
}

// storeWaiting stores webhooks until none waits.
func (i *Inbox) storeWaiting() {
	for {
		i.mu.Lock()
		n := min(len(i.waiting), maxBatch)
		batch := i.waiting[:n:n]
		i.waiting = i.waiting[n:]
		i.writing = n > 0
		i.mu.Unlock()
		if n == 0 {
			return
		}
		if n > 1 && i.storeTogether(context.WithoutCancel(batch[0].ctx), batch) == nil {
			for _, webhook := range batch {
				webhook.stored <- nil
			}
			continue
		}
		// One that cannot be stored must not fail the others, and none waits for the timeouts
		// of the others when the database does not respond.
		var alone sync.WaitGroup
		for _, webhook := range batch {
			alone.Go(func() { webhook.stored <- i.storeTogether(webhook.ctx, []*pendingWebhook{webhook}) })
		}
		alone.Wait()
	}
}

// storeTogether stores webhooks with one transaction. Statements that lock rows which
// other webhooks need come last, each for all webhooks in the order of the keys, so that
// transactions of replicas cannot deadlock.
func (i *Inbox) storeTogether(ctx context.Context, batch []*pendingWebhook) error {
	return i.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		var work []queue.Trigger
		var images []event.Image
		var comments []store.CommentEvent
		var reports []evidence.Report
		for _, webhook := range batch {
			accepted := webhook.accepted
			err := i.store.Deliveries.Save(ctx, tx, store.Delivery{
				Receiver: accepted.Receiver, ID: accepted.ID, Sender: accepted.Sender, EventType: accepted.EventType,
				Events: accepted.Events, Header: accepted.Header, Body: accepted.Body,
			})
			if err != nil {
				return err
			}
			if webhook.triggers, err = i.triggers(ctx, tx, accepted.Receiver, accepted.Events); err != nil {
				return err
			}
			work = append(append(work, tracedBy(webhook.trace, webhook.triggers)...), webhook.cleanup...)
			for _, one := range accepted.Events {
				if one.Kind == event.KindImage {
					images = append(images, one.Image)
				}
			}
			comments = append(comments, newComments(accepted.Events, webhook.triggers)...)
			reports = append(reports, i.receivedAt(tx, accepted)...)
		}
		// Also of images without subscribers: a later config that refers to one of them must
		// not use what was cached before.
		if err := i.store.ImageEvents.Record(ctx, tx, images); err != nil {
			return err
		}
		if err := i.store.CommentEvents.Record(ctx, tx, comments); err != nil {
			return err
		}
		if err := i.store.Health.SaveReports(ctx, tx, reports); err != nil {
			return err
		}
		if err := i.queue.TriggerIn(ctx, tx, work...); err != nil {
			return err
		}
		for _, webhook := range batch {
			by := store.DeliveryRef{Receiver: webhook.accepted.Receiver, Delivery: webhook.accepted.ID}
			if err := i.store.RecordTrigger(ctx, tx, by, repositoryKeys(webhook.triggers)); err != nil {
				return err
			}
		}
		return nil
	})
}

// receivedAt returns the reports of a delivery with their receiver. Without a time, they are
// from when they were received.
func (i *Inbox) receivedAt(tx *database.Tx, accepted server.Accepted) []evidence.Report {
	reports := slices.Clone(accepted.Reports)
	for n := range reports {
		one := &reports[n].Health
		one.Receiver = accepted.Receiver
		if one.At.IsZero() {
			one.At = accepted.At
		}
		source := one.Source
		tx.AfterCommit(func() { i.metrics.HealthReport(accepted.Receiver, source) })
	}
	return reports
}

// newComments returns the comments that a delivery reports as new, in the repositories that
// it triggers. A delivery of a forge is about one repository.
func newComments(events []event.Event, triggers []queue.Trigger) (comments []store.CommentEvent) {
	for _, one := range events {
		if one.Kind != event.KindComment || one.Digest == "" || one.Comment == 0 {
			continue
		}
		for _, key := range repositoryKeys(triggers) {
			comments = append(comments, store.CommentEvent{Repository: key, Comment: one.Comment, Digest: one.Digest})
		}
	}
	return comments
}

// Preview returns the keys of the repositories that events would trigger, and changes
// nothing.
func (i *Inbox) Preview(ctx context.Context, receiver string, events []event.Event) (keys []string, err error) {
	err = i.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		triggers, err := i.triggers(ctx, tx, receiver, events) // which counts no event, because nothing is committed
		keys = repositoryKeys(triggers)
		return err
	})
	return keys, err
}

// triggers returns the work that events trigger.
func (i *Inbox) triggers(ctx context.Context, tx *database.Tx, receiver string, events []event.Event) ([]queue.Trigger, error) {
	var triggers []queue.Trigger
	for _, one := range events {
		more, err := i.subscribers(ctx, tx, receiver, one)
		if err != nil {
			return nil, err
		}
		triggers = append(triggers, more...) // the queue merges duplicates
		tx.AfterCommit(func() { i.metrics.WebhookEvent(string(one.Kind), len(more) > 0) })
	}
	return triggers, nil
}

// subscribers returns the work that one event triggers.
func (i *Inbox) subscribers(ctx context.Context, tx *database.Tx, receiver string, e event.Event) ([]queue.Trigger, error) {
	if e.Kind == event.KindInstallation { // it may change which repositories there are
		return []queue.Trigger{debounced(KindPoll, All, i.debounce)}, nil
	}
	keys, err := i.store.Subscribers(ctx, tx, receiver, e)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return i.discovery.triggers(e), nil
	}
	var triggers []queue.Trigger
	for _, key := range keys {
		triggers = append(triggers, debounced(KindRepository, key, i.debounce))
	}
	return triggers, nil
}

// repositoryKeys returns the repositories of triggers, each once.
func repositoryKeys(triggers []queue.Trigger) []string {
	keys := []string{}
	for _, trigger := range triggers {
		if trigger.Kind == KindRepository {
			keys = append(keys, trigger.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
