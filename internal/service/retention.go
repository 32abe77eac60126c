package service

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/queue"
	"promoter/internal/state"
	"promoter/internal/store"
)

// retentionInterval is the time between two runs.
const retentionInterval = time.Hour

// maxImageEvents is for how many images the last event is kept: a sender of webhooks may
// name any image, and each reconciliation reads the events since its refresh.
const maxImageEvents = 100_000

// Limits of reports about health. Their effect on landed commits is stored with these.
const (
	maxReports   = 50_000
	maxReportAge = 90 * 24 * time.Hour
)

// maxNotificationAge is how long a message is kept after its last event, to be updated. A promotion
// that waits longer is announced again.
const maxNotificationAge = 90 * 24 * time.Hour

// retention deletes what is older or larger than the server file allows.
type retention struct {
	db     *database.DB
	store  *store.Store
	limits serverconfig.Retention
	log    *slog.Logger
	now    func() time.Time
}

// handle deletes old data, a little at a time, and returns its space.
func (r retention) handle(ctx context.Context, _ queue.Item) (queue.Result, error) {
	next := queue.Result{Next: r.now().Add(retentionInterval)}
	type deletion struct {
		before func(context.Context, time.Time) (int64, error)
		age    time.Duration // 0: kept forever
	}
	type trim struct {
		beyond func(context.Context, int64) (int64, error)
		limit  int64
	}
	var removed int64
	for _, one := range []deletion{
		{r.store.Deliveries.DeleteBefore, r.limits.Deliveries},
		{r.store.CommentEvents.DeleteBefore, state.CommentWindow + 24*time.Hour},
		{r.store.Health.DeleteReportsBefore, maxReportAge},
		{r.store.Notifications.DeleteBefore, maxNotificationAge},
		{r.store.DeleteHistoryBefore, r.limits.History},
		{r.store.Snapshots.DeleteBefore, r.limits.History},
		{r.store.Milestones.DeleteBefore, r.limits.History},
	} {
		if one.age == 0 {
			continue
		}
		rows, err := one.before(ctx, r.now().Add(-one.age))
		if err != nil {
			return next, err
		}
		removed += rows
	}
	for _, one := range []trim{
		{r.store.Deliveries.Trim, r.limits.DeliveriesSize},
		{r.store.ImageEvents.Trim, maxImageEvents},
		{r.store.Health.TrimReports, maxReports},
	} {
		rows, err := one.beyond(ctx, one.limit)
		if err != nil {
			return next, err
		}
		removed += rows
	}
	if removed > 0 {
		r.log.InfoContext(ctx, "deleted rows past their retention period", slog.Int64("rows", removed))
	}
	return next, r.db.Shrink(ctx)
}

// retentionTrigger triggers the retention when webhooks brought much data: within the
// regular interval they could fill a disk.
type retentionTrigger struct{ bytes atomic.Int64 }

// The volume of webhooks that triggers the retention, and the approximate size of what
// is stored for each event besides the body, in bytes.
const (
	triggerVolume = 64 << 20
	eventRowSize  = 256
)

// add counts a delivery. It returns the trigger, or nothing if the volume is not reached.
func (t *retentionTrigger) add(body []byte, events []event.Event) []queue.Trigger {
	if t.bytes.Add(int64(len(body)+len(events)*eventRowSize)) < triggerVolume {
		return nil
	}
	t.bytes.Store(0)
	return []queue.Trigger{{Kind: kindRetention, Key: All}}
}
