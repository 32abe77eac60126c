package queue

import (
	"context"
	"errors"
	"time"

	"promoter/internal/database"
	"promoter/internal/fault"
)

// ErrLost says that a run has lost its lease: its key may have another run by now.
// Its kind is fault.Conflict.
var ErrLost = errors.New("the lease of this run is lost")

// Renew makes the lease of a run last from now on.
func (q *Queue) Renew(ctx context.Context, item Item, lease time.Duration) error {
	return q.settle(ctx, item, "lease_until = @now + ?", lease.Microseconds())
}

// Release gives a run up as if it had not begun. It may begin again after the time.
func (q *Queue) Release(ctx context.Context, item Item, after time.Duration) error {
	return q.settle(ctx, item, "owner = '', lease_until = 0, attempts = attempts - 1, not_before = @greatest(not_before, @now + ?)",
		after.Microseconds())
}

// settle changes the row of a run that has its lease.
func (q *Queue) settle(ctx context.Context, item Item, set string, args ...any) error {
	return q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		return item.change(ctx, tx, "update work set "+set, args...)
	})
}

// change is settle within a transaction. The owner is of this run alone, so whoever
// claimed the key since then is not touched.
func (i Item) change(ctx context.Context, tx *database.Tx, statement string, args ...any) error {
	changed, err := tx.Exec(ctx, statement+" where kind = ? and key = ? and owner = ?",
		append(args, i.Kind, i.Key, i.owner)...)
	if err == nil && changed == 0 {
		return fault.New(fault.Conflict, "%s %s: %w", i.Kind, i.Key, ErrLost)
	}
	return err
}
