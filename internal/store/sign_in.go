package store

import (
	"context"
	"errors"
	"time"

	"promoter/internal/database"
	"promoter/internal/fault"
)

// SignIns are the sign-ins that were completed, for all replicas.
type SignIns struct{ db *database.DB }

// maxSignIns limits the sign-ins that are remembered at once. Each was completed by a user
// whom the provider authenticated, within the minutes that a sign-in may take.
const maxSignIns = 100_000

// keepSignIns is how long a sign-in is remembered after it has expired: a request that began before
// may end after, and the clocks of replicas differ.
const keepSignIns = 10 * time.Minute

// Use reports whether a sign-in is completed for the first time. It is forgotten some time after it
// has expired, when the next one is completed.
func (s SignIns) Use(ctx context.Context, id string, now, expires time.Time) (first bool, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		if _, err := tx.Exec(ctx, "delete from used_sign_in where expires_at < ?", now.Add(-keepSignIns)); err != nil {
			return err
		}
		var used int64
		if err := tx.One(ctx, []any{&used}, "select count(*) from used_sign_in"); err != nil {
			return err
		}
		if used >= maxSignIns {
			return fault.Limited(now.Add(time.Minute), errors.New("too many users sign in"))
		}
		added, err := tx.Exec(ctx, "insert into used_sign_in (id, expires_at) values (?, ?) on conflict (id) do nothing", id, expires)
		first = added == 1
		return err
	})
	return first, err
}
