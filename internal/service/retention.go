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
	older := func(remove func(context.Context, time.Time) (int64, error), age time.Duration) func() (int64, error) {
		return func() (int64, error) { return remove(ctx, r.now().Add(-age)) }
	}
	beyond := func(remove func(context.Context, int64) (int64, error), limit int64) func() (int64, error) {
		return func() (int64, error) { return remove(ctx, limit) }
	}
	steps := []func() (int64, error){
		older(r.store.Deliveries.DeleteBefore, r.limits.Deliveries),
		beyond(r.store.Deliveries.Trim, r.limits.DeliveriesSize),
		beyond(r.store.ImageEvents.Trim, maxImageEvents),
		older(r.store.CommentEvents.DeleteBefore, state.CommentWindow+24*time.Hour),
		older(r.store.Health.DeleteReportsBefore, maxReportAge),
		older(r.store.Notifications.DeleteBefore, maxNotificationAge),
		beyond(r.store.Health.TrimReports, maxReports),
	}
	if r.limits.History != 0 { // else it is kept forever
		steps = append(steps, older(r.store.DeleteHistoryBefore, r.limits.History),
			older(r.store.Snapshots.DeleteBefore, r.limits.History), older(r.store.Milestones.DeleteBefore, r.limits.History))
	}
	var removed int64
	for _, remove := range steps {
		rows, err := remove()
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
