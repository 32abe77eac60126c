package queue

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"promoter/internal/database"
)

// Crash is work that was running when a process died. The work may be the cause, and is
// then called a suspect: it runs alone. What died alone runs later, each time with a longer
// delay. What died with other runs does so at once, because most of them are innocent.
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

// dead are the runs of processes that died.
const dead = `select key, owner, crashes from work where kind = ? and owner <> '' and lease_until <= @now @skip_locked`

// ofProcess counts the runs of a process, of all kinds: those that are not ended yet, whose leases may end later, and those
// that are. The name of a process is used once.
const ofProcess = `select count(*) from work
where substr(owner, 1, cast(? as integer)) = ? or substr(crashed_owner, 1, cast(? as integer)) = ?`

// endCrashed ends a run of a process that died. Polls do not run it earlier, and other triggers not before the first delay.
const endCrashed = `
update work set crashes = crashes + 1, crashed_owner = owner, owner = '', lease_until = 0, failed_at = @now, last_error = '',
	retry_after = @greatest(retry_after, @now + cast(? as bigint)), not_before = @greatest(not_before, @now + cast(? as bigint))
where kind = ? and key = ? and owner = ?
returning key, crashes, not_before`

// deadRun is a run of a process that died.
type deadRun struct {
	key, owner string
	crashes    int  // before
	together   bool // its process had other runs
}

// endExpired ends the runs whose lease expired, and returns those of other processes. A
// process that only lost its database corrects that when it is back (survived).
func (q *Queue) endExpired(ctx context.Context, tx *database.Tx, o ClaimOptions) (crashed []Crash, err error) {
	own := q.name + "/"
	if _, err := tx.Exec(ctx, endOwn, o.Kind, utf8.RuneCountInString(own), own); err != nil {
		return nil, err
	}
	var runs []deadRun
	err = tx.Query(ctx, func(scan database.Scan) error {
		var one deadRun
		err := scan(&one.key, &one.owner, &one.crashes)
		runs = append(runs, one)
		return err
	}, dead, o.Kind)
	if err != nil {
		return nil, err
	}
	for i, run := range runs { // all before one is ended
		if runs[i].together, err = diedTogether(ctx, tx, run.owner); err != nil {
			return nil, err
		}
	}
	for _, run := range runs {
		first, delay := o.crashDelays(run)
		err := tx.Query(ctx, func(scan database.Scan) error {
			var one Crash
			err := scan(&one.Key, &one.Crashes, &one.Next)
			crashed = append(crashed, one)
			return err
		}, endCrashed, first.Microseconds(), delay.Microseconds(), o.Kind, run.key, run.owner)
		if err != nil {
			return nil, err
		}
	}
	return crashed, nil
}

// diedTogether reports whether a process had other runs when it died.
func diedTogether(ctx context.Context, tx *database.Tx, owner string) (bool, error) {
	process := owner[:strings.LastIndexByte(owner, '/')+1]
	length, runs := utf8.RuneCountInString(process), 0
	err := tx.One(ctx, []any{&runs}, ofProcess, length, process, length, process)
	return runs > 1, err
}

// crashDelays returns how long a run waits for a trigger, and without one. A run that was a suspect
// already is not innocent because other runs began beside it (maxAlone).
func (o ClaimOptions) crashDelays(run deadRun) (first, delay time.Duration) {
	if run.together && run.crashes == 0 {
		return 0, 0
	}
	delay = o.FirstCrash
	for range run.crashes {
		if delay *= 2; delay >= o.LastCrash {
			break
		}
	}
	return min(o.FirstCrash, o.LastCrash), min(delay, o.LastCrash)
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
