package queue

import (
	"context"
	"time"

	"promoter/internal/database"
)

// Stat is how much work of one kind there is.
type Stat struct {
	Kind    string
	Waiting int // hinted and not running; schedules do not count
	Running int
	Failing int // whose last run failed
	// Oldest is the age of the oldest hint that no run which did well has read.
	Oldest time.Duration
}

const stats = `
select kind,
	count(case when hinted > done and hinted_at > 0 and owner = '' then 1 end),
	count(case when owner <> '' and lease_until > @now then 1 end),
	count(case when failed_at > 0 then 1 end),
	coalesce(max(case when hinted > done and hinted_at > 0 then @now - hinted_at end), 0)
from work group by kind order by kind`

// Stats counts the work of every kind.
func (q *Queue) Stats(ctx context.Context) (all []Stat, err error) {
	err = q.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			one, oldest := Stat{}, int64(0)
			err := scan(&one.Kind, &one.Waiting, &one.Running, &one.Failing, &oldest)
			one.Oldest = time.Duration(oldest) * time.Microsecond
			all = append(all, one)
			return err
		}, stats)
	})
	return all, err
}

// Entry is one row, as people want to see it.
type Entry struct {
	Kind, Key string
	// Owner is the run under way, or one that died and whose lease is not over.
	Owner string
	// TriggeredAt is the first hint that no run which did well has read.
	TriggeredAt time.Time
	// NotBefore is when it runs next; zero: when it is hinted.
	NotBefore time.Time
	Attempts  int
	LastError string
	FailedAt  time.Time
}

const entries = `
select key, owner, hinted_at, case when hinted > done then not_before else 0 end, attempts, last_error, failed_at
from work where kind = ? and key > ? order by key limit ?`

// Entries lists the rows of a kind by key, from the one after the given key on.
func (q *Queue) Entries(ctx context.Context, kind, after string, limit int) (all []Entry, err error) {
	err = q.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			one, err := readEntry(scan, kind)
			all = append(all, one)
			return err
		}, entries, kind, after, limit)
	})
	return all, err
}

func readEntry(scan database.Scan, kind string) (Entry, error) {
	one := Entry{Kind: kind}
	var hinted, notBefore, failed int64
	err := scan(&one.Key, &one.Owner, &hinted, &notBefore, &one.Attempts, &one.LastError, &failed)
	one.TriggeredAt, one.NotBefore, one.FailedAt = database.Time(hinted), database.Time(notBefore), database.Time(failed)
	return one, err
}
