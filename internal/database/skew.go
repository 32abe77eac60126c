package database

import (
	"context"
	"time"
)

// ClockSkew says by how much a clock is ahead of the database's, as far as the time of the
// question leaves no doubt. An SQLite file has no clock of its own.
func (d *DB) ClockSkew(ctx context.Context, now func() time.Time) (time.Duration, error) {
	if d.SingleProcess() {
		return 0, nil
	}
	var micros int64
	begin := now()
	err := d.View(ctx, func(ctx context.Context, tx *Tx) error { return tx.One(ctx, []any{&micros}, "select @now") })
	end, there := now(), Time(micros)
	switch {
	case err != nil:
		return 0, err
	case begin.After(there):
		return begin.Sub(there), nil
	case end.Before(there):
		return end.Sub(there), nil
	}
	return 0, nil
}
