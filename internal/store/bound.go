package store

import (
	"context"

	"promoter/internal/database"
)

// Bound removes the oldest deliveries beyond so many bytes of bodies and headers, and
// returns how many it removed. Who may send webhooks could else fill the disk.
func (s *Store) Bound(ctx context.Context, most int64) (removed int64, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		removed, err = tx.Exec(ctx, `
delete from delivery where (receiver, id) in (
	select receiver, id from (
		select receiver, id, sum(length(body) + length(header)) over (order by received_at desc, receiver, id) as total
		from delivery
	) as newest where total > cast(? as bigint)
)`, most)
		return err
	})
	return removed, err
}
