package queue

import (
	"context"
	"time"

	"promoter/internal/database"
)

// Result is what a run that did well says about its key.
type Result struct {
	// Next is when to run again although nobody hints; the zero time is never. A hint
	// that comes first brings it forward.
	Next time.Time
	// Forget removes the row, unless a hint came meanwhile: the key will not come again.
	Forget bool
}

// settled is common to all ends of a run that did well.
const settled = `done = claimed, owner = '', lease_until = 0, attempts = 0, last_error = '', failed_at = 0, held_until = 0, claimed_traces = ''`

// A schedule is a hint that nobody gave: it has a time to run and no time of a hint.
const (
	resting = `update work set ` + settled + `,
		hinted_at  = case when hinted = claimed then 0 else hinted_at end`
	scheduled = `update work set ` + settled + `,
		hinted_at  = case when hinted = claimed then 0 else hinted_at end,
		not_before = case when hinted = claimed then cast(? as bigint) else not_before end,
		hinted     = case when hinted = claimed then hinted + 1 else hinted end`
	forgotten = `delete from work`
)

// Done ends a run that did well. Hints that came meanwhile stay, and have another run.
func (q *Queue) Done(ctx context.Context, item Item, result Result) error {
	return q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		if !result.Next.IsZero() {
			return item.change(ctx, tx, scheduled, result.Next)
		}
		if result.Forget {
			changed, err := tx.Exec(ctx, forgotten+" where kind = ? and key = ? and owner = ? and hinted = claimed",
				item.Kind, item.Key, item.owner)
			if err != nil || changed > 0 {
				return err
			}
		}
		return item.change(ctx, tx, resting)
	})
}
