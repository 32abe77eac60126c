package database

import (
	"context"
)

// How much is given back at once, and what is left for what comes next, in pages of
// 4 KiB. Somebody who writes waits for one step: some milliseconds.
const (
	shrinkStep = 500
	keepFree   = 2000
)

// Shrink gives the space of removed rows back to the disk, a little at a time. A file
// that a release before made does not shrink: its space is used again. A PostgreSQL
// server looks after itself.
func (d *DB) Shrink(ctx context.Context) error {
	if d.words.name != sqliteName {
		return nil
	}
	for before := int64(-1); ; {
		free, err := d.shrinkOnce(ctx)
		if err != nil || free <= keepFree || free == before {
			return err
		}
		if before = free; ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// shrinkOnce returns how many free pages there were.
func (d *DB) shrinkOnce(ctx context.Context) (free int64, err error) {
	err = d.Update(ctx, func(ctx context.Context, tx *Tx) error {
		if err := tx.One(ctx, []any{&free}, "pragma freelist_count"); err != nil || free <= keepFree {
			return err
		}
		_, err := tx.Exec(ctx, "pragma incremental_vacuum(500)")
		return err
	})
	return free, err
}
