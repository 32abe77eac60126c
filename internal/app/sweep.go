package app

import (
	"context"
	"log/slog"

	"promoter/internal/queue"
	"promoter/internal/schedule"
)

// maxHinted is of how many images it is remembered at most that they were hinted at: who
// may send webhooks may name any, and each look reads those of its round.
const maxHinted = 100_000

// sweep removes what is kept long enough, a little at a time, and gives its space back.
func (s *service) sweep(ctx context.Context, _ queue.Item) (queue.Result, error) {
	next := queue.Result{Next: s.now().Add(sweepEvery)}
	keep := s.file.Retention
	removed, err := s.store.DeleteDeliveriesBefore(ctx, s.now().Add(-keep.Deliveries))
	if err != nil {
		return next, err
	}
	large, err := s.store.TrimDeliveries(ctx, keep.DeliveriesSize)
	if err != nil {
		return next, err
	}
	removed += large
	hinted, err := s.store.TrimImageEvents(ctx, maxHinted)
	if err != nil {
		return next, err
	}
	removed += hinted
	if keep.History > 0 {
		old, err := s.store.DeleteHistoryBefore(ctx, s.now().Add(-keep.History))
		if err != nil {
			return next, err
		}
		removed += old
	}
	if removed > 0 {
		s.Log.InfoContext(ctx, "removed what is kept long enough", slog.Int64("rows", removed))
	}
	return next, s.db.Shrink(ctx)
}

// keptFor says how long deliveries are kept.
func (s *service) keptFor() string {
	return "deliveries are kept for " + schedule.FormatDuration(s.file.Retention.Deliveries)
}
