package queue

import (
	"context"
	"strings"
	"time"

	"promoter/internal/database"
)

// maxError bounds the error of a run, in bytes.
const maxError = 2000

// Failure is how a run failed and when it is tried again.
type Failure struct {
	// Reason is shown to people.
	Reason string
	// Delay and At say when to try again: whichever is later.
	Delay   time.Duration
	RetryAt time.Time
	// MinDelay is how long hints can not bring that forward; up to After or At.
	MinDelay time.Duration
	// NotBefore is the same as a time: whichever is later.
	NotBefore time.Time
}

const failed = `update work set owner = '', lease_until = 0, last_error = ?, failed_at = @now,
	held_until = @greatest(@now + ?, cast(? as bigint)),
	not_before = case
		when hinted > claimed then @greatest(@greatest(@now + ?, cast(? as bigint)), @least(not_before, @greatest(@now + ?, cast(? as bigint))))
		else @greatest(@now + ?, cast(? as bigint)) end`

// Fail ends a run that failed. Its hints stay.
func (q *Queue) Fail(ctx context.Context, item Item, f Failure) error {
	after, at := f.Delay.Microseconds(), database.Micros(f.RetryAt)
	hold, holdAt := f.MinDelay.Microseconds(), database.Micros(f.NotBefore)
	return q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		return item.change(ctx, tx, failed, reason(f.Reason), hold, holdAt, hold, holdAt, after, at, after, at)
	})
}

// reason is what both databases can keep of a text.
func reason(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	if len(text) <= maxError {
		return text
	}
	return strings.ToValidUTF8(text[:maxError], "") + "…"
}
