package database

import (
	"context"

	"promoter/internal/fault"
)

// Healthy says whether the database can be written at this moment, by writing. What
// it returns is for the page that says whether promoter is ready. It returns when
// ctx ends, although the write may wait for longer.
func (d *DB) Healthy(ctx context.Context) error {
	written := make(chan error, 1)
	go func() { written <- d.beat(context.WithoutCancel(ctx)) }()
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return fault.New(fault.Temporary, "the database was not written in time: %w", context.Cause(ctx))
	}
}

func (d *DB) beat(ctx context.Context) error {
	return d.Batch(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, "update heartbeat set written_at = @now")
		return err
	})
}
