package queue

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"promoter/internal/database"
	"promoter/internal/fault"
)

// Work that crashes its process is delayed from the third attempt on, by this time
// beyond its lease.
const (
	crashAttempts = 3
	crashDelay    = time.Minute
)

// Item is a run: claimed work with its lease.
type Item struct {
	Kind, Key string
	// TriggeredAt is the first trigger that no successful run has read; zero: only a
	// schedule caused this run.
	TriggeredAt time.Time
	// Attempt counts the runs since the last successful one, including this one.
	Attempt int
	// Traces are those of the triggers that no successful run has read, oldest first,
	// up to 20.
	Traces []string

	owner string
}

const claim = `
with due as materialized (
	select kind, key from work
	where kind = ? and triggered > done and not_before <= @now
		and (owner = '' or lease_until <= @now - case when attempts >= ? then cast(? as bigint) else 0 end)
	order by not_before limit ? @skip_locked
)
update work set owner = ?, lease_until = @now + ?, claimed = triggered, attempts = attempts + 1,
	claimed_traces = substr(traces || claimed_traces, 1, ` + maxTraces + `), traces = ''
where (kind, key) in (select kind, key from due)
returning key, attempts, triggered_at, claimed_traces`

// untilDue is the time until something is due. Its condition is that of claim: otherwise
// the loop would poll without a pause.
const untilDue = `
select min(case when owner = '' then not_before
	else @greatest(not_before, lease_until + case when attempts >= ? then cast(? as bigint) else 0 end) end) - @now
from work where kind = ? and triggered > done`

// Claim starts up to limit runs of a kind; those that have been due for the longest
// time come first. It also returns the time until something else is due, which is
// math.MaxInt64 if nothing is.
func (q *Queue) Claim(ctx context.Context, kind string, limit int, lease time.Duration) (items []Item, wait time.Duration, err error) {
	owner := q.owner()
	err = q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		items, wait = nil, 0
		row := func(scan database.Scan) error {
			item, triggered, traces := Item{Kind: kind, owner: owner}, int64(0), ""
			err := scan(&item.Key, &item.Attempt, &triggered, &traces)
			item.TriggeredAt, item.Traces = database.Time(triggered), tracesOf(traces)
			items = append(items, item)
			return err
		}
		err := tx.Query(ctx, row, claim, kind, crashAttempts, crashDelay.Microseconds(), limit, owner, lease.Microseconds())
		if err != nil || len(items) == limit {
			return err
		}
		var micros *int64
		err = tx.One(ctx, []any{&micros}, untilDue, crashAttempts, crashDelay.Microseconds(), kind)
		switch {
		case micros == nil || *micros > int64(math.MaxInt64/time.Microsecond):
			wait = math.MaxInt64
		case *micros > 0:
			wait = time.Duration(*micros) * time.Microsecond
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return items, wait, nil
}

// ErrLost means that a run has lost its lease: its key may have another run.
// Its kind is fault.Conflict.
var ErrLost = errors.New("the lease of this run is lost")

// change updates the row of a run, if the run still holds the lease: owner is the name of
// this run only.
func (i Item) change(ctx context.Context, tx *database.Tx, statement string, args ...any) error {
	changed, err := tx.Exec(ctx, statement+" where kind = ? and key = ? and owner = ?", append(args, i.Kind, i.Key, i.owner)...)
	if err == nil && changed == 0 {
		return fault.New(fault.Conflict, "%s %s: %w", i.Kind, i.Key, ErrLost)
	}
	return err
}

func (q *Queue) change(ctx context.Context, item Item, statement string, args ...any) error {
	return q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		return item.change(ctx, tx, statement, args...)
	})
}

// Renew extends the lease of a run from now on.
func (q *Queue) Renew(ctx context.Context, item Item, lease time.Duration) error {
	return q.change(ctx, item, "update work set lease_until = @now + ?", lease.Microseconds())
}

// Release ends a run as if it had not begun. It may begin again after the delay.
func (q *Queue) Release(ctx context.Context, item Item, delay time.Duration) error {
	return q.change(ctx, item,
		"update work set owner = '', lease_until = 0, attempts = attempts - 1, not_before = @greatest(not_before, @now + ?)",
		delay.Microseconds())
}

// Result is the result of a successful run.
type Result struct {
	// Next is when to run again without a trigger; zero: never. A trigger runs it earlier.
	Next time.Time
	// Forget deletes the row, unless it was triggered again: the key is not used any more.
	Forget bool
}

// A schedule counts as a trigger with a time to run, but without a time of the trigger.
const (
	succeeded = `update work set done = claimed, owner = '', lease_until = 0, attempts = 0, last_error = '', failed_at = 0, retry_after = 0,
		claimed_traces = '', triggered_at = case when triggered = claimed then 0 else triggered_at end`
	succeededWithNext = succeeded + `,
		not_before = case when triggered = claimed then cast(? as bigint) else not_before end,
		triggered  = case when triggered = claimed then triggered + 1 else triggered end`
)

// Done ends a successful run. Triggers that arrived in the meantime lead to another run.
func (q *Queue) Done(ctx context.Context, item Item, result Result) error {
	return q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		if !result.Next.IsZero() {
			return item.change(ctx, tx, succeededWithNext, result.Next)
		}
		if result.Forget {
			deleted, err := tx.Exec(ctx, "delete from work where kind = ? and key = ? and owner = ? and triggered = claimed",
				item.Kind, item.Key, item.owner)
			if err != nil || deleted > 0 {
				return err
			}
		}
		return item.change(ctx, tx, succeeded)
	})
}

// Failure is the result of a failed run, and when to retry it.
type Failure struct {
	// Reason is shown to users.
	Reason string
	// Delay and RetryAt are when to retry: the later of both.
	Delay   time.Duration
	RetryAt time.Time
	// MinDelay and NotBefore are how long triggers cannot run it earlier: the later of both.
	MinDelay  time.Duration
	NotBefore time.Time
}

// maxError limits the stored error of a run, in bytes.
const maxError = 2000

// Fail ends a failed run. Its triggers stay.
func (q *Queue) Fail(ctx context.Context, item Item, f Failure) error {
	reason := strings.ToValidUTF8(strings.ReplaceAll(f.Reason, "\x00", ""), "\uFFFD")
	if len(reason) > maxError {
		reason = strings.ToValidUTF8(reason[:maxError], "") + "…"
	}
	delay, at := f.Delay.Microseconds(), database.Micros(f.RetryAt)
	minDelay, notBefore := f.MinDelay.Microseconds(), database.Micros(f.NotBefore)
	return q.change(ctx, item, `update work set owner = '', lease_until = 0, last_error = ?, failed_at = @now,
	retry_after = @greatest(@now + ?, cast(? as bigint)),
	not_before  = case
		when triggered > claimed then @greatest(@greatest(@now + ?, cast(? as bigint)), @least(not_before, @greatest(@now + ?, cast(? as bigint))))
		else @greatest(@now + ?, cast(? as bigint)) end`,
		reason, minDelay, notBefore, minDelay, notBefore, delay, at, delay, at)
}
