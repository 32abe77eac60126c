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

// Take implements server.Inbox: the delivery and the work that it means are on the
// disk together, or neither is.
func (s *service) Take(ctx context.Context, taken server.Taken) error {
	_, err := s.take(ctx, taken)
	return err
}

func (s *service) take(ctx context.Context, taken server.Taken) ([]queue.Trigger, error) {
	var work []queue.Trigger
	trace, swept := telemetry.Parent(ctx), s.inflow.add(taken.Body, taken.Hints)
	ctx, stored := telemetry.Begin(ctx, "store")
	err := s.db.Batch(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		err = s.store.Keep(ctx, tx, store.Delivery{
			Receiver: taken.Receiver, ID: taken.ID, Sender: taken.Sender, Event: taken.Event,
			Hints: taken.Hints, Header: taken.Header, Body: taken.Body,
		})
		if err != nil {
			return err
		}
		if work, err = s.workOf(ctx, tx, taken.Hints); err != nil {
			return err
		}
		s.store.Caused(tx, store.Cause{Receiver: taken.Receiver, Delivery: taken.ID}, keysOf(work))
		return s.queue.HintIn(tx, slices.Concat(tracedBy(trace, work), swept)...)
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
func (s *service) toldOf(ctx context.Context, taken server.Taken, work []queue.Trigger) {
	s.Log.InfoContext(ctx, "delivery", slog.String("receiver", taken.Receiver), slog.String("delivery", taken.ID),
		slog.String("event", taken.Event), slog.Int("hints", len(taken.Hints)), slog.Any("keys", firstKeys(work)))
}

func firstKeys(work []queue.Trigger) []string {
	keys := keysOf(work)
	return keys[:min(len(keys), maxTold)]
}

// workOf finds what is to be looked at for the hints.
func (s *service) workOf(ctx context.Context, tx *database.Tx, hints []event.Event) ([]queue.Trigger, error) {
	var work []queue.Trigger
	for _, hint := range hints {
		more, err := s.workOfOne(ctx, tx, hint)
		if err != nil {
			return nil, err
		}
		work = append(work, more...)
		tx.AfterCommit(func() { s.metrics.Hint(string(hint.Kind), len(more) > 0) })
	}
	return work, nil // what is there twice is merged by the queue
}

// workOfOne also remembers a hint about an image that nobody follows yet: whoever
// begins to must not believe what was read before.
func (s *service) workOfOne(ctx context.Context, tx *database.Tx, hint event.Event) ([]queue.Trigger, error) {
	if hint.Kind == event.KindImage {
		s.store.Hinted(tx, hint.Image)
	}
	return s.followed(ctx, tx, []event.Event{hint})
}

// followed finds who is concerned, and changes nothing.
func (s *service) followed(ctx context.Context, tx *database.Tx, hints []event.Event) ([]queue.Trigger, error) {
	quiet := max(s.Quiet, 0)
	var work []queue.Trigger
	for _, hint := range hints {
		if hint.Kind == event.KindInstallation { // the repositories themselves may be others now
			work = append(work, queue.Trigger{Kind: kindPoll, Key: everything, Quiet: quiet, Within: quietTimes * quiet})
			continue
		}
		lanes, err := s.store.Followers(ctx, tx, hint)
		if err != nil {
			return nil, err
		}
		if len(lanes) == 0 {
			work = append(work, s.arriving(hint)...)
		}
		for _, lane := range lanes {
			work = append(work, queue.Trigger{Kind: kindLane, Key: lane, Quiet: quiet, Within: quietTimes * quiet})
		}
	}
	return work, nil
}
