package queue

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"promoter/internal/database"
	"promoter/internal/fault"
)

// Item is a run: claimed work with its lease.
type Item struct {
	Kind, Key string
	// TriggeredAt is the first trigger that no successful run has read; zero: only a
	// schedule caused this run.
	TriggeredAt time.Time
	// Attempt counts the runs since the last successful one, including this one. Runs that
	// a trigger starts before the retry of a failed one do not count.
	Attempt int
	// Traces are those of the triggers that no successful run has read, oldest first,
	// up to 20.
	Traces []string
	// Tenant and Urgent are those of the triggers.
	Tenant string
	Urgent bool

	owner   string
	counted int64 // 1: this run counts in Attempt; 0: a trigger ran it before its retry
}

// ClaimOptions are what to claim.
type ClaimOptions struct {
	Kind  string
	Limit int // of runs
	Lease time.Duration
	// Suspects claims work that was running when a process died, and no other.
	Suspects bool
	// FirstCrash and LastCrash are the first and the longest delay of work that was
	// running when a process died.
	FirstCrash, LastCrash time.Duration
	// Share returns how many runs of each tenant to claim; nil: as many as are due.
	Share func([]Waiting) []Share
}

// Waiting is the work of one tenant that is due.
type Waiting struct {
	Tenant string
	Runs   int
	Urgent int       // of them
	Due    time.Time // of the oldest
}

// Share is how many runs of a tenant to claim.
type Share struct {
	Tenant string `json:"tenant"`
	Runs   int    `json:"runs"`
}

// Claimed is the result of a claim.
type Claimed struct {
	Items []Item
	// Crashed is the work that was running when another process died. It is due later.
	Crashed []Crash
	// Wait is the time until work is due that is not due yet, and Suspect the time until
	// suspects are; math.MaxInt64 if there is none.
	Wait, Suspect time.Duration
}

// isDue is the condition for work that no process runs.
const isDue = `kind = ? and triggered > done and not_before <= @now and owner = '' and (crashes > 0) = (cast(? as bigint) > 0)`

const waiting = `
select tenant, count(*), count(case when urgent > 0 then 1 end), min(not_before) from work where ` + isDue + ` group by tenant`

const claim = `
with share as materialized (
	select value->>'tenant' as tenant, cast(value->>'runs' as bigint) as runs from @elements(?)
), ranked as materialized (
	select key, runs, row_number() over (partition by work.tenant order by urgent desc, not_before, key) as place
	from work join share on share.tenant = work.tenant where ` + isDue + `
), due as materialized (
	select kind, key from work where ` + isDue + ` and key in (select key from ranked where place <= runs)
	order by not_before limit ? @skip_locked
)
update work set owner = ?, lease_until = @now + ?, claimed = triggered, attempts = attempts + case when retry_at > @now then 0 else 1 end,
	claimed_traces = substr(traces || claimed_traces, 1, ` + maxTraces + `), traces = ''
where (kind, key) in (select kind, key from due)
returning key, attempts, triggered_at, claimed_traces, tenant, urgent, case when retry_at > @now then 0 else 1 end`

// untilDue is the time until work becomes due. Work that was due when the claim began, and was
// not claimed, does not count: the loop would poll without a pause. Each statement of a claim
// has its own time, so that work may have become due meanwhile.
const untilDue = `
select min(case when owner <> '' then lease_until
		when crashes = 0 and not_before > cast(? as bigint) then not_before end) - @now,
	min(case when crashes > 0 and owner = '' then not_before end) - @now
from work where kind = ? and triggered > done`

// Claim starts runs of a kind; of each tenant, urgent ones and those that have been due
// for the longest time come first.
func (q *Queue) Claim(ctx context.Context, o ClaimOptions) (claimed Claimed, err error) {
	owner := q.owner()
	err = q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		claimed = Claimed{}
		var began int64
		if err := tx.One(ctx, []any{&began}, "select @now"); err != nil {
			return err
		}
		if claimed.Crashed, err = q.endExpired(ctx, tx, o); err != nil {
			return err
		}
		if claimed.Items, err = claimShares(ctx, tx, o, owner); err != nil {
			return err
		}
		var wait, suspect *int64
		err = tx.One(ctx, []any{&wait, &suspect}, untilDue, began, o.Kind)
		claimed.Wait, claimed.Suspect = durationOf(wait), durationOf(suspect)
		return err
	})
	if err != nil {
		return Claimed{}, err
	}
	return claimed, nil
}

// claimShares claims what is due, by the shares of the tenants.
func claimShares(ctx context.Context, tx *database.Tx, o ClaimOptions, owner string) (items []Item, err error) {
	suspects, due := 0, []Waiting(nil)
	if o.Suspects {
		suspects = 1
	}
	err = tx.Query(ctx, func(scan database.Scan) error {
		one, oldest := Waiting{}, int64(0)
		err := scan(&one.Tenant, &one.Runs, &one.Urgent, &oldest)
		one.Due = database.Time(oldest)
		due = append(due, one)
		return err
	}, waiting, o.Kind, suspects)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	var shares []Share
	if o.Share != nil {
		shares = o.Share(due)
	} else {
		for _, one := range due {
			shares = append(shares, Share{one.Tenant, o.Limit})
		}
	}
	if len(shares) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(shares)
	if err != nil {
		return nil, fault.New(fault.Internal, "shares: %w", err)
	}
	err = tx.Query(ctx, func(scan database.Scan) error {
		item, triggered, traces, urgent := Item{Kind: o.Kind, owner: owner}, int64(0), "", 0
		err := scan(&item.Key, &item.Attempt, &triggered, &traces, &item.Tenant, &urgent, &item.counted)
		item.TriggeredAt, item.Traces, item.Urgent = database.Time(triggered), tracesOf(traces), urgent > 0
		items = append(items, item)
		return err
	}, claim, string(text), o.Kind, suspects, o.Kind, suspects, o.Limit, owner, o.Lease.Microseconds())
	return items, err
}

// durationOf returns a time in microseconds as a duration of 0 or more.
func durationOf(micros *int64) time.Duration {
	if micros == nil || *micros > int64(math.MaxInt64/time.Microsecond) {
		return math.MaxInt64
	}
	return time.Duration(max(*micros, 0)) * time.Microsecond
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
		"update work set owner = '', lease_until = 0, attempts = attempts - cast(? as bigint), not_before = @greatest(not_before, @now + ?)",
		item.counted, delay.Microseconds())
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
	succeeded = `update work set done = claimed, owner = '', lease_until = 0, attempts = 0, last_error = '', failed_at = 0, retry_after = 0, retry_at = 0, crashes = 0,
		urgent = case when triggered = claimed then 0 else urgent end, claimed_traces = '', triggered_at = case when triggered = claimed then 0 else triggered_at end`
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

// retryAt is when failed work is retried. A trigger may run it earlier; if that fails too,
// it changes nothing about the time.
const retryAt = `@greatest(case when retry_at > @now then retry_at else @now + ? end, cast(? as bigint))`

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
	retry_at    = `+retryAt+`,
	not_before  = case
		when triggered > claimed then @greatest(@greatest(@now + ?, cast(? as bigint)), @least(not_before, `+retryAt+`))
		else @greatest(`+retryAt+`, @now + ?, cast(? as bigint)) end`,
		reason, minDelay, notBefore, delay, at, minDelay, notBefore, delay, at, delay, at, minDelay, notBefore)
}
