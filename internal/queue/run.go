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
	Tenant string
	Runs   int
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

// isReady is the condition for work that no process runs. It may be due later.
const isReady = `kind = ? and triggered > done and owner = ''`

// isDue is the condition for what may be claimed now: suspects, or other work.
const isDue = isReady + ` and not_before <= @now and (crashes > 0) = (cast(? as bigint) > 0)`

// waiting counts the work of each tenant that is due, up to a limit, and returns the time of the
// oldest. It goes from tenant to tenant in the index: a poll triggers all repositories, and each of
// the claims that follow would read them all.
const waiting = `
with recursive tenants (name) as (
	select min(tenant) from work where ` + isReady + `
	union all
	select (select min(tenant) from work where ` + isReady + ` and tenant > name) from tenants where name is not null
)
select name,
	(select count(*) from (select 1 from work where ` + isDue + ` and tenant = name and urgent = 1 limit ?) as urgent),
	(select count(*) from (select 1 from work where ` + isDue + ` and tenant = name and urgent = 0 limit ?) as other),
	(select not_before from work where ` + isDue + ` and tenant = name and urgent = 1 order by not_before limit 1),
	(select not_before from work where ` + isDue + ` and tenant = name and urgent = 0 order by not_before limit 1)
from tenants where name is not null`

// claim starts runs, the oldest first.
const (
	claimBegin = `
with due as materialized (
	select kind, key from work where ` + isDue
	claimEnd = ` limit ? @skip_locked
)
update work set owner = ?, lease_until = @now + ?, claimed = triggered, attempts = attempts + case when retry_at > @now then 0 else 1 end,
	claimed_traces = substr(traces || claimed_traces, 1, ` + maxTraces + `), traces = ''
where (kind, key) in (select kind, key from due)
returning key, attempts, triggered_at, claimed_traces, tenant, urgent, case when retry_at > @now then 0 else 1 end`
	claimAny      = claimBegin + ` order by not_before` + claimEnd
	claimOfTenant = claimBegin + ` and tenant = ? and urgent = ? order by not_before, key` + claimEnd
)

// untilDue is the time until a lease ends, work becomes due, and a suspect does. Work that was due
// when the claim began, and was not claimed, does not count: the loop would poll without a pause.
// Each statement of a claim has its own time, so that work may have become due meanwhile.
const untilDue = `
select (select min(lease_until) from work where kind = ? and owner <> '') - @now,
	(select not_before from work where ` + isReady + ` and not_before > cast(? as bigint) and crashes = 0
		order by not_before limit 1) - @now,
	(select min(not_before) from work where ` + isReady + ` and crashes > 0) - @now`

// Claim starts runs of a kind; of each tenant, urgent ones and those that have been due
// for the longest time come first.
func (q *Queue) Claim(ctx context.Context, o ClaimOptions) (claimed Claimed, err error) {
	owner := q.owner()
	err = q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		claimed = Claimed{}
		var began, expired int64
		if err := tx.One(ctx, []any{&began, &expired}, beginClaim, o.Kind); err != nil {
			return err
		}
		if expired > 0 {
			if claimed.Crashed, err = q.endExpired(ctx, tx, o); err != nil {
				return err
			}
		}
		if claimed.Items, err = claimShares(ctx, tx, o, owner); err != nil {
			return err
		}
		var lease, due, suspect *int64
		err = tx.One(ctx, []any{&lease, &due, &suspect}, untilDue, o.Kind, o.Kind, began, o.Kind)
		claimed.Wait, claimed.Suspect = min(durationOf(lease), durationOf(due)), durationOf(suspect)
		return err
	})
	if err != nil {
		return Claimed{}, err
	}
	return claimed, nil
}

// claimShares claims what is due, by the shares of the tenants.
func claimShares(ctx context.Context, tx *database.Tx, o ClaimOptions, owner string) ([]Item, error) {
	c := claimer{tx: tx, o: o, owner: owner}
	if o.Suspects {
		c.suspects = 1
	}
	if o.Share == nil {
		err := c.claim(ctx, claimAny, o.Limit)
		return c.items, err
	}
	due, err := c.waiting(ctx)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	urgent := map[string]int{}
	for _, one := range due {
		urgent[one.Tenant] = one.Urgent
	}
	for _, share := range o.Share(due) {
		before := len(c.items)
		if urgent[share.Tenant] > 0 {
			if err := c.claim(ctx, claimOfTenant, share.Runs, share.Tenant, 1); err != nil {
				return nil, err
			}
		}
		if left := share.Runs - (len(c.items) - before); left > 0 {
			if err := c.claim(ctx, claimOfTenant, left, share.Tenant, 0); err != nil {
				return nil, err
			}
		}
	}
	return c.items, nil
}

// claimer collects the runs of one claim.
type claimer struct {
	tx       *database.Tx
	o        ClaimOptions
	owner    string
	suspects int // 1: they are claimed
	items    []Item
}

// waiting returns the tenants with work that is due.
func (c *claimer) waiting(ctx context.Context) (due []Waiting, err error) {
	kind, most := c.o.Kind, c.o.Limit
	err = c.tx.Query(ctx, func(scan database.Scan) error {
		one, other := Waiting{}, 0
		var oldestUrgent, oldest *int64
		if err := scan(&one.Tenant, &one.Urgent, &other, &oldestUrgent, &oldest); err != nil {
			return err
		}
		if one.Runs = one.Urgent + other; one.Runs > 0 {
			one.Due = database.Time(oldestOf(oldestUrgent, oldest))
			due = append(due, one)
		}
		return nil
	}, waiting, kind, kind, kind, c.suspects, most, kind, c.suspects, most, kind, c.suspects, kind, c.suspects)
	return due, err
}

// oldestOf returns the earlier of two times of which at least one exists.
func oldestOf(a, b *int64) int64 {
	switch {
	case a == nil:
		return *b
	case b == nil:
		return *a
	}
	return min(*a, *b)
}

// claim claims up to a number of runs. The arguments are those of the conditions.
func (c *claimer) claim(ctx context.Context, statement string, limit int, conditions ...any) error {
	arguments := append([]any{c.o.Kind, c.suspects}, conditions...)
	return c.tx.Query(ctx, func(scan database.Scan) error {
		item := Item{Kind: c.o.Kind, owner: c.owner}
		var traces string
		var urgent int
		err := scan(&item.Key, &item.Attempt, &item.TriggeredAt, &traces, &item.Tenant, &urgent, &item.counted)
		item.Traces = tracesOf(traces)
		item.Urgent = urgent > 0
		c.items = append(c.items, item)
		return err
	}, statement, append(arguments, limit, c.owner, c.o.Lease.Microseconds())...)
}

// durationOf returns a time in microseconds as a duration of 0 or more.
func durationOf(micros *int64) time.Duration {
	if micros == nil || *micros > int64(math.MaxInt64/time.Microsecond) {
		return math.MaxInt64
	}
	return time.Duration(max(*micros, 0)) * time.Microsecond
}

// ErrLost means that a run has lost its lease: its key may have another run. What returns it wraps it
// as a fault.Conflict.
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
		"update work set owner = '', lease_until = 0, attempts = attempts - cast(? as bigint), "+
			"not_before = @greatest(not_before, @now + ?)",
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
	succeeded = `update work set done = claimed, owner = '', lease_until = 0, attempts = 0, last_error = '', failed_at = 0,
	retry_after = 0, retry_at = 0, crashes = 0,
		urgent = case when triggered = claimed then 0 else urgent end, claimed_traces = '',
	triggered_at = case when triggered = claimed then 0 else triggered_at end`
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
