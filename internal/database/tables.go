package database

import (
	"context"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// SchemaVersion says at which step the tables of a PostgreSQL database are, 0 for none, and
// which step this release brings them to. It changes nothing.
func SchemaVersion(ctx context.Context, url secret.String) (at, known int, err error) {
	db, err := Options{URL: url}.open(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = db.Close() }() // it was only read
	steps, err := readSteps(migrations, "postgresql")
	if err != nil {
		return 0, 0, err
	}
	err = db.View(ctx, func(ctx context.Context, tx *Tx) error {
		var there bool
		if err := tx.One(ctx, []any{&there}, "select to_regclass('schema_version') is not null"); err != nil || !there {
			return err
		}
		return tx.One(ctx, []any{&at}, "select coalesce(max(version), 0) from schema_version")
	})
	if err == nil && at > len(steps) {
		err = fault.New(fault.Invalid, "the database was used by a newer promoter: its tables are at step %d, this release knows %d", at, len(steps))
	}
	return at, len(steps), err
}
