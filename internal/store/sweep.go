package store

import (
	"context"
	"time"

	"promoter/internal/database"
)

// sweepAtOnce is how many rows one transaction removes. Who writes meanwhile waits for
// one of them: some milliseconds on SQLite, which has one writer.
const sweepAtOnce = 500

// DeleteDeliveriesBefore removes deliveries that were received before a time, and hints that are as
// old, and returns how many deliveries that were.
func (s *Store) DeleteDeliveriesBefore(ctx context.Context, before time.Time) (removed int64, err error) {
	removed, err = s.remove(ctx, `
delete from delivery where (receiver, id) in (
	select receiver, id from delivery where received_at < ? order by received_at limit ?
)`, before)
	if err != nil {
		return removed, err
	}
	_, err = s.remove(ctx, removeHinted, before)
	return removed, err
}

const removeHinted = `
delete from image_hint where (host, path) in (
	select host, path from image_hint where hinted_at < ? order by hinted_at limit ?
)`

// DeleteHistoryBefore removes what happened before a time.
func (s *Store) DeleteHistoryBefore(ctx context.Context, before time.Time) (removed int64, err error) {
	return s.remove(ctx, "delete from history where id in (select id from history where at < ? order by at limit ?)", before)
}

// remove runs a statement that removes what is older than a time, so many rows at most,
// until nothing is left of it.
func (s *Store) remove(ctx context.Context, statement string, before time.Time) (removed int64, err error) {
	for {
		var some int64
		err = s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
			some, err = tx.Exec(ctx, statement, before, sweepAtOnce)
			return err
		})
		removed += some
		if err != nil || some < sweepAtOnce {
			return removed, err
		}
		if ctx.Err() != nil {
			return removed, context.Cause(ctx)
		}
	}
}
