package store

import (
	"context"
	"time"

	"promoter/internal/database"
)

// TrimDeliveries removes the oldest deliveries beyond so many bytes of bodies and headers, and
// returns how many it removed. Who may send webhooks could else fill the disk. What is
// too much is found by reading alone, so that nobody waits for that.
func (s *Store) TrimDeliveries(ctx context.Context, most int64) (removed int64, err error) {
	var newest int64
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{&newest}, `
select coalesce(max(received_at), 0) from (
	select received_at, sum(length(body) + length(header)) over (order by received_at desc, receiver, id) as total from delivery
) as sized where total > cast(? as bigint)`, most)
	})
	if err != nil || newest == 0 {
		return 0, err
	}
	return s.remove(ctx, `
delete from delivery where (receiver, id) in (
	select receiver, id from delivery where received_at < ? order by received_at limit ?
)`, database.Time(newest).Add(time.Microsecond))
}

// TrimImageEvents forgets of more than so many images that were hinted at those whose hint is
// the oldest, and returns how many these were. What was read of them before counts until
// the next poll.
func (s *Store) TrimImageEvents(ctx context.Context, most int) (removed int64, err error) {
	var newest int64
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{&newest},
			"select coalesce(max(hinted_at), 0) from (select hinted_at from image_hint order by hinted_at desc limit 1 offset ?) as beyond", most)
	})
	if err != nil || newest == 0 {
		return 0, err
	}
	return s.remove(ctx, removeHinted, database.Time(newest).Add(time.Microsecond))
}
