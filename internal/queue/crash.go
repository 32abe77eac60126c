package queue

import (
	"context"
	"time"
	"unicode/utf8"

	"promoter/internal/database"
)

// Crash is work that was running when a process died. The work may be the cause, and is
// then called a suspect: it runs later, each time with a longer delay, and alone.
type Crash struct {
	Key string
	// Crashes counts the processes that died during a run since the last successful one.
	Crashes int
	Next    time.Time
}

// beginClaim returns the time, and how many runs have lost their lease.
const beginClaim = `select @now, (select count(*) from work where kind = ? and owner <> '' and lease_until <= @now)`

// endOwn ends the runs of this process that could not renew their lease or store their
// result: the process lives, so nothing crashed.
const endOwn = `update work set owner = '', lease_until = 0
where kind = ? and owner <> '' and lease_until <= @now and substr(owner, 1, cast(? as integer)) = ?`

// endCrashed ends the runs of processes that died. Triggers do not run them earlier.
const endCrashed = `
with dead as materialized (
	select kind, key, @now + @least(cast(? as bigint), cast(? as bigint) << cast(@least(crashes, 20) as integer)) as next
	from work where kind = ? and owner <> '' and lease_until <= @now @skip_locked
)
update work set crashes = work.crashes + 1, crashed_owner = work.owner, owner = '', lease_until = 0, failed_at = @now, last_error = '',
	retry_after = @greatest(work.retry_after, dead.next), not_before = @greatest(work.not_before, dead.next)
from dead where work.kind = dead.kind and work.key = dead.key
returning work.key, work.crashes, work.not_before`

// endExpired ends the runs whose lease expired, and returns those of other processes. A
// process that only lost its database corrects that when it is back (survived).
func (q *Queue) endExpired(ctx context.Context, tx *database.Tx, o ClaimOptions) (crashed []Crash, err error) {
	own := q.name + "/"
	if _, err := tx.Exec(ctx, endOwn, o.Kind, utf8.RuneCountInString(own), own); err != nil {
		return nil, err
	}
	err = tx.Query(ctx, func(scan database.Scan) error {
		var one Crash
		err := scan(&one.Key, &one.Crashes, &one.Next)
		crashed = append(crashed, one)
		return err
	}, endCrashed, o.LastCrash.Microseconds(), o.FirstCrash.Microseconds(), o.Kind)
	return crashed, err
}

// survived ends a run without a result: its lease expired, or its result could not be
// stored, but its process lives. If another process counted a crash, that is corrected.
func (q *Queue) survived(ctx context.Context, item Item) error {
	return q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		_, err := tx.Exec(ctx, "update work set owner = '', lease_until = 0 where kind = ? and key = ? and owner = ?",
			item.Kind, item.Key, item.owner)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `update work set crashes = crashes - 1, crashed_owner = '',
	failed_at   = case when crashes > 1 then failed_at else 0 end,
	retry_after = case when owner = '' then 0 else retry_after end,
	not_before  = case when owner = '' then @now else not_before end
where kind = ? and key = ? and crashed_owner = ? and crashes > 0`, item.Kind, item.Key, item.owner)
		return err
	})
}
