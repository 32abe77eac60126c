package store

import (
	"context"

	"promoter/internal/database"
)

// SetDrift stores the drift that a reconciliation found, as JSON; empty: there is none.
func (t Targets) SetDrift(ctx context.Context, tx *database.Tx, key, drift string) error {
	drift = storable(drift)
	_, err := tx.Exec(ctx, "update repository set drift = ? where key = ? and drift <> ?", drift, key, drift)
	return err
}

// Drift returns the drift of the repositories that have some, as JSON by key.
func (t Targets) Drift(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	err := t.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var key, drift string
			err := scan(&key, &drift)
			all[key] = drift
			return err
		}, "select key, drift from repository where drift <> ''")
	})
	return all, err
}
