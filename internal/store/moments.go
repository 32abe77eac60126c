package store

import (
	"context"
	"time"

	"promoter/internal/database"
	"promoter/internal/image"
)

// RequestRefresh remembers that somebody wants everything of a lane read anew.
func (s *Store) RequestRefresh(ctx context.Context, lane string) error {
	return s.db.Batch(ctx, func(ctx context.Context, tx *database.Tx) error {
		_, err := tx.Exec(ctx, `insert into refresh (lane, asked_at) values (?, @now)
on conflict (lane) do update set asked_at = excluded.asked_at`, lane)
		return err
	})
}

// Freshness are what makes answers about a lane's images old.
type Freshness struct {
	Fired     map[string]time.Time // by the name of the schedule
	Refreshed time.Time            // zero: never
}

// Freshness lists what holds now for a lane.
func (s *Store) Freshness(ctx context.Context, lane string) (m Freshness, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		m = Freshness{Fired: map[string]time.Time{}}
		one := func(scan database.Scan) error {
			name, at := "", int64(0)
			if err := scan(&name, &at); err != nil {
				return err
			}
			if name == "" {
				m.Refreshed = database.Time(at)
			} else {
				m.Fired[name] = database.Time(at)
			}
			return nil
		}
		return tx.Query(ctx, one, `select name, fired_at from schedule where name = ? or name in (select schedule from scheduled where lane = ?)
union all select '', asked_at from refresh where lane = ?`, Poll, lane, lane)
	})
	return m, err
}

// LastImageEvent is when an image was hinted at last; the zero time: never.
func (s *Store) LastImageEvent(ctx context.Context, r image.Repository) (at time.Time, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		var micros int64
		err := tx.One(ctx, []any{&micros}, "select coalesce(max(hinted_at), 0) from image_hint where host in (?, '') and path = ?", r.Host(), r.Path())
		at = database.Time(micros)
		return err
	})
	return at, err
}
