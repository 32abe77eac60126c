package app

import (
	"context"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/store"
)

// Take implements server.Inbox: the delivery and the work that it means are on the
// disk together, or neither is.
func (s *service) Take(ctx context.Context, taken server.Taken) error {
	return s.db.Batch(ctx, func(ctx context.Context, tx *database.Tx) error {
		err := s.store.Keep(ctx, tx, store.Delivery{
			Receiver: taken.Receiver, ID: taken.ID, Sender: taken.Sender, Event: taken.Event,
			Hints: taken.Hints, Header: taken.Header, Body: taken.Body,
		})
		if err != nil {
			return err
		}
		work, err := s.workOf(ctx, tx, taken.Hints)
		if err != nil {
			return err
		}
		return s.queue.HintIn(tx, work...)
	})
}

// workOf finds what is to be looked at for the hints.
func (s *service) workOf(ctx context.Context, tx *database.Tx, hints []event.Hint) ([]queue.Hint, error) {
	var work []queue.Hint
	add := func(kind, key string) {
		quiet := max(s.Quiet, 0)
		work = append(work, queue.Hint{Kind: kind, Key: key, Quiet: quiet, Within: quietTimes * quiet})
	}
	for _, hint := range hints {
		if hint.Kind == event.KindInstallation {
			add(kindPoll, everything) // the repositories themselves may be others now
			continue
		}
		lanes, err := s.store.Followers(ctx, tx, hint)
		if err != nil {
			return nil, err
		}
		// Also where nobody follows it yet: whoever begins to must not believe what was
		// read before.
		if hint.Kind == event.KindImage {
			if err := s.store.Hinted(ctx, tx, hint.Image); err != nil {
				return nil, err
			}
		}
		for _, lane := range lanes {
			add(kindLane, lane)
		}
	}
	return work, nil // what is there twice is merged by the queue
}
