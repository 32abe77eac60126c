package queue

import (
	"context"
	"math"
	"time"

	"promoter/internal/database"
)

// Work that takes its process down with it is held back from the third time on, by
// so much beyond its lease.
const (
	crashes = 3
	pause   = time.Minute
)

// Item is a run: work that was claimed, with its lease.
type Item struct {
	Kind, Key string
	// TriggeredAt is the first hint that no run which did well has read; zero: a schedule
	// alone brought this run.
	TriggeredAt time.Time
	// Attempt counts the runs since the last one that did well, this one included.
	Attempt int
	// Traces are those of the hints that no run which did well has read, the oldest
	// first, up to 20 of the newest.
	Traces []string

	hinted int64 // as this run read it
	owner  string
}

const claim = `
with due as materialized (
	select kind, key from work
	where kind = ? and hinted > done and not_before <= @now
		and (owner = '' or lease_until <= @now - case when attempts >= ? then cast(? as bigint) else 0 end)
	order by not_before limit ? @skip_locked
)
update work set owner = ?, lease_until = @now + ?, claimed = hinted, attempts = attempts + 1,
	claimed_traces = substr(traces || claimed_traces, 1, ` + maxTraces + `), traces = ''
where (kind, key) in (select kind, key from due)
returning key, hinted, attempts, hinted_at, claimed_traces`

// next is how long it takes until something is due, as far as it is known now. It says
// of everything what claim does: else the loop would ask without a pause.
const next = `
select min(case when owner = '' then not_before
	else @greatest(not_before, lease_until + case when attempts >= ? then cast(? as bigint) else 0 end) end) - @now
from work where kind = ? and hinted > done`

// Claim begins up to limit runs of a kind, those first that are due for the longest
// time. It also returns how long it takes until something more is due, but for what
// is hinted meanwhile; that may be for ever.
func (q *Queue) Claim(ctx context.Context, kind string, limit int, lease time.Duration) (items []Item, wait time.Duration, err error) {
	owner := q.owner()
	err = q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		items, wait = nil, 0
		row := func(scan database.Scan) error {
			item, hinted, traces := Item{Kind: kind, owner: owner}, int64(0), ""
			err := scan(&item.Key, &item.hinted, &item.Attempt, &hinted, &traces)
			item.TriggeredAt, item.Traces = database.Time(hinted), tracesOf(traces)
			items = append(items, item)
			return err
		}
		err := tx.Query(ctx, row, claim, kind, crashes, pause.Microseconds(), limit, owner, lease.Microseconds())
		if err != nil || len(items) == limit {
			return err
		}
		var micros *int64
		err = tx.One(ctx, []any{&micros}, next, crashes, pause.Microseconds(), kind)
		wait = until(micros)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return items, wait, nil
}

// until is a number of microseconds; there is none when nothing will be due.
func until(micros *int64) time.Duration {
	switch {
	case micros == nil || *micros > int64(math.MaxInt64/time.Microsecond):
		return math.MaxInt64
	case *micros <= 0:
		return 0
	default:
		return time.Duration(*micros) * time.Microsecond
	}
}
