package service

import (
	"context"
	"log/slog"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
	"promoter/internal/store"
)

func TestRetention_history(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		limit time.Duration
		left  int
	}{"is kept forever": {0, 2}, "is deleted": {24 * time.Hour, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := func() time.Time { return noon }
			db := databasetest.Open(t, database.Options{Path: t.TempDir() + "/promoter.db", Now: now})
			stored := store.New(db)
			old := store.Event{Repository: "github.com/1", Environment: "dev", Application: "web", Action: store.EventPushed, Commit: "a", At: noon.AddDate(-5, 0, 0)}
			recent := old
			recent.Commit, recent.At = "b", noon.Add(-time.Hour)
			err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
				_, err := stored.AddEvents(ctx, tx, []store.Event{old, recent})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			limits := serverconfig.Retention{Deliveries: time.Hour, DeliveriesSize: 1, History: test.limit}
			r := retention{db: db, store: stored, limits: limits, log: slog.New(slog.DiscardHandler), now: now}
			if result, err := r.handle(t.Context(), queue.Item{}); err != nil || !result.Next.Equal(noon.Add(retentionInterval)) {
				t.Errorf("%+v, %v", result, err)
			}
			if left, err := stored.History(t.Context(), store.HistoryFilter{Limit: 10}); err != nil || len(left) != test.left {
				t.Errorf("%d events are left, want %d: %v", len(left), test.left, err)
			}
		})
	}
}
