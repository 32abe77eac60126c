package service

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// Inbox stores webhooks together with the work that they trigger.
type Inbox struct {
	db        *database.DB
	queue     *queue.Queue
	store     *store.Store
	discovery *discovery
	retention retentionTrigger
	metrics   *telemetry.Metrics
	debounce  time.Duration
	log       *slog.Logger
}

// Accept implements server.Inbox: the delivery and the work that it triggers are on disk
// together, or neither is.
func (i *Inbox) Accept(ctx context.Context, accepted server.Accepted) error {
	_, err := i.Store(ctx, accepted)
	return err
}

// Store is Accept, and returns the keys of the repositories that the delivery triggers.
func (i *Inbox) Store(ctx context.Context, accepted server.Accepted) (keys []string, err error) {
	var triggers []queue.Trigger
	trace, cleanup := telemetry.Parent(ctx), i.retention.add(accepted.Body, accepted.Events)
	ctx, span := telemetry.Begin(ctx, "store")
	err = i.db.Update(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		err = i.store.SaveDelivery(ctx, tx, store.Delivery{
			Receiver: accepted.Receiver, ID: accepted.ID, Sender: accepted.Sender, EventType: accepted.EventType,
			Events: accepted.Events, Header: accepted.Header, Body: accepted.Body,
		})
		if err != nil {
			return err
		}
		if triggers, err = i.triggers(ctx, tx, accepted.Events); err != nil {
			return err
		}
		if err := i.queue.TriggerIn(ctx, tx, slices.Concat(tracedBy(trace, triggers), cleanup)...); err != nil {
			return err
		}
		return i.store.RecordTrigger(ctx, tx, store.DeliveryRef{Receiver: accepted.Receiver, Delivery: accepted.ID}, repositoryKeys(triggers))
	})
	keys = repositoryKeys(triggers)
	span.Set(slog.Any(traceKeys, first(keys)))
	span.End(err)
	if err != nil {
		return nil, fmt.Errorf("store the delivery %s of %s: %w", accepted.ID, accepted.Receiver, err)
	}
	// By the keys, the log lines of the reconciliations that it triggered are found.
	i.log.InfoContext(ctx, "webhook received", slog.String("receiver", accepted.Receiver), slog.String("delivery", accepted.ID),
		slog.String("event", accepted.EventType), slog.Int("events", len(accepted.Events)), slog.Any("keys", first(keys)))
	return keys, nil
}

// Preview returns the keys of the repositories that events would trigger, and changes
// nothing.
func (i *Inbox) Preview(ctx context.Context, events []event.Event) (keys []string, err error) {
	err = i.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		var triggers []queue.Trigger
		for _, one := range events {
			more, err := i.subscribers(ctx, tx, one)
			if err != nil {
				return err
			}
			triggers = append(triggers, more...)
		}
		keys = repositoryKeys(triggers)
		return nil
	})
	return keys, err
}

// triggers returns the work that events trigger. It also records events about images
// without subscribers: a later config that refers to one of them must not use what was
// cached before.
func (i *Inbox) triggers(ctx context.Context, tx *database.Tx, events []event.Event) ([]queue.Trigger, error) {
	var triggers []queue.Trigger
	var images []event.Image
	for _, one := range events {
		more, err := i.subscribers(ctx, tx, one)
		if err != nil {
			return nil, err
		}
		triggers = append(triggers, more...) // the queue merges duplicates
		if one.Kind == event.KindImage {
			images = append(images, one.Image)
		}
		tx.AfterCommit(func() { i.metrics.WebhookEvent(string(one.Kind), len(more) > 0) })
	}
	return triggers, i.store.RecordImageEvents(ctx, tx, images)
}

// subscribers returns the work that one event triggers.
func (i *Inbox) subscribers(ctx context.Context, tx *database.Tx, e event.Event) ([]queue.Trigger, error) {
	if e.Kind == event.KindInstallation { // it may change which repositories there are
		return []queue.Trigger{debounced(KindPoll, All, i.debounce)}, nil
	}
	keys, err := i.store.Subscribers(ctx, tx, e)
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
