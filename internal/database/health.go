package database

import "context"

// Healthy says whether the database can be written at this moment, by writing. What
// it returns is for the page that says whether promoter is ready; ctx bounds how
// long it may take.
func (d *DB) Healthy(ctx context.Context) error {
	return d.Batch(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, "update heartbeat set written_at = @now")
		return err
	})
}
