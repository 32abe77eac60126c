package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// Accept implements server.Inbox: the delivery and the work that it means are on the
// disk together, or neither is.
func (s *service) Accept(ctx context.Context, taken server.Accepted) error {
	_, err := s.take(ctx, taken)
	return err
}

func (s *service) take(ctx context.Context, taken server.Accepted) ([]queue.Trigger, error) {
	var work []queue.Trigger
	trace, swept := telemetry.Parent(ctx), s.inflow.add(taken.Body, taken.Events)
	ctx, stored := telemetry.Begin(ctx, "store")
	err := s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		err = s.store.SaveDelivery(ctx, tx, store.Delivery{
			Receiver: taken.Receiver, ID: taken.ID, Sender: taken.Sender, EventType: taken.EventType,
			Events: taken.Events, Header: taken.Header, Body: taken.Body,
		})
		if err != nil {
			return err
		}
		if work, err = s.workOf(ctx, tx, taken.Events); err != nil {
			return err
		}
		if err := s.queue.TriggerIn(ctx, tx, slices.Concat(tracedBy(trace, work), swept)...); err != nil {
			return err
		}
		return s.store.RecordTrigger(ctx, tx, store.DeliveryRef{Receiver: taken.Receiver, Delivery: taken.ID}, keysOf(work))
	})
	stored.Set(slog.Any(traceKeys, firstKeys(work)))
	stored.End(err)
	if err != nil {
		return nil, fmt.Errorf("keep the delivery %s of %s: %w", taken.ID, taken.Receiver, err)
	}
	s.toldOf(ctx, taken, work)
	return work, nil
}

// maxTold is how many repositories the line of a delivery names, and how many
// applications that of an act.
const maxTold = 20

// toldOf writes the line of a delivery. By the keys, the lines of the looks are
// found that it brought about.
func (s *service) toldOf(ctx context.Context, taken server.Accepted, work []queue.Trigger) {
	s.Log.InfoContext(ctx, "webhook received", slog.String("receiver", taken.Receiver), slog.String("delivery", taken.ID),
		slog.String("event", taken.EventType), slog.Int("events", len(taken.Events)), slog.Any("keys", firstKeys(work)))
}

func firstKeys(work []queue.Trigger) []string {
	keys := keysOf(work)
	return keys[:min(len(keys), maxTold)]
}

// workOf finds what the events trigger. It also records events of images that nothing
// refers to yet: a config that begins to must not use what was cached before.
func (s *service) workOf(ctx context.Context, tx *database.Tx, events []event.Event) ([]queue.Trigger, error) {
	var work []queue.Trigger
	var images []event.Image
	for _, one := range events {
		more, err := s.followed(ctx, tx, []event.Event{one})
		if err != nil {
			return nil, err
		}
		work = append(work, more...)
		if one.Kind == event.KindImage {
			images = append(images, one.Image)
		}
		tx.AfterCommit(func() { s.metrics.WebhookEvent(string(one.Kind), len(more) > 0) })
	}
	return work, s.store.RecordImageEvents(ctx, tx, images) // the queue merges duplicates
}

// followed finds who is concerned, and changes nothing.
func (s *service) followed(ctx context.Context, tx *database.Tx, hints []event.Event) ([]queue.Trigger, error) {
	quiet := max(s.Quiet, 0)
	var work []queue.Trigger
	for _, hint := range hints {
		if hint.Kind == event.KindInstallation { // the repositories themselves may be others now
			work = append(work, queue.Trigger{Kind: kindPoll, Key: everything, Debounce: quiet, MaxDebounce: quietTimes * quiet})
			continue
		}
		lanes, err := s.store.Subscribers(ctx, tx, hint)
		if err != nil {
			return nil, err
		}
		if len(lanes) == 0 {
			work = append(work, s.arriving(hint)...)
		}
		for _, lane := range lanes {
			work = append(work, queue.Trigger{Kind: kindLane, Key: lane, Debounce: quiet, MaxDebounce: quietTimes * quiet})
		}
	}
	return work, nil
}
