package store

import (
	"context"
	"slices"
	"time"

	"promoter/internal/database"
)

// Poll is the schedule at which everything is looked at. The names of all others
// are times in words.
const Poll = "poll"

// Schedule is when something came last.
type Schedule struct {
	Name         string
	FiredAt      time.Time
	Repositories int // that are looked at when it comes
}

// Schedules lists all by name.
func (s *Store) Schedules(ctx context.Context) (all []Schedule, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			one, fired := Schedule{}, int64(0)
			err := scan(&one.Name, &fired, &one.Repositories)
			one.FiredAt = database.Time(fired)
			all = append(all, one)
			return err
		}, "select name, fired_at, (select count(*) from scheduled where schedule = name) from schedule order by name")
	})
	return all, err
}

// SetSchedules has a lane looked at when these schedules come and no others. It
// returns those that are new for the lane. One that was not there at all begins with
// the last poll: what was read for that counts.
func (s *Store) SetSchedules(ctx context.Context, tx *database.Tx, lane string, names []string) (added []string, err error) {
	var known []string
	err = tx.Query(ctx, func(scan database.Scan) error {
		var name string
		err := scan(&name)
		known = append(known, name)
		return err
	}, "select schedule from scheduled where lane = ?", lane)
	if err != nil {
		return nil, err
	}
	for _, name := range known {
		if slices.Contains(names, name) {
			continue
		}
		if _, err := tx.Exec(ctx, "delete from scheduled where lane = ? and schedule = ?", lane, name); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		added = append(added, name)
		if _, err := tx.Exec(ctx, "insert into scheduled (lane, schedule) values (?, ?) on conflict do nothing", lane, name); err != nil {
			return nil, err
		}
		_, err := tx.Exec(ctx, `insert into schedule (name, fired_at)
values (?, coalesce((select fired_at from schedule where name = ?), @now)) on conflict do nothing`, name, Poll)
		if err != nil {
			return nil, err
		}
	}
	return added, nil
}

// Fire enters that a schedule came, if its time is over: due says when it comes after
// another time; or now, whatever its time. It returns whether it came, and when it
// does next. One that is new comes at once. Of several who ask, one is told that it
// came.
func (s *Store) Fire(ctx context.Context, tx *database.Tx, name string, now bool, due func(last time.Time) time.Time) (fired bool, next time.Time, err error) {
	last, present := int64(0), int64(0)
	_, err = tx.Exec(ctx, "insert into schedule (name, fired_at) values (?, 0) on conflict do nothing", name)
	if err != nil {
		return false, time.Time{}, err
	}
	if err := tx.One(ctx, []any{&last, &present}, "select fired_at, @now from schedule where name = ?", name); err != nil {
		return false, time.Time{}, err
	}
	at := database.Time(present)
	if next = due(database.Time(last)); !now && last != 0 && next.After(at) {
		return false, next, nil
	}
	changed, err := tx.Exec(ctx, "update schedule set fired_at = ? where name = ? and fired_at = ?", present, name, last)
	return changed > 0, due(at), err
}

// RepositoriesOfSchedule lists the lanes that are looked at when a schedule comes.
func (s *Store) RepositoriesOfSchedule(ctx context.Context, tx *database.Tx, name string) ([]string, error) {
	return lanes(ctx, tx, "select lane from scheduled where schedule = ? order by lane", name)
}

// DeleteUnusedSchedule removes a schedule that no lane has any more.
func (s *Store) DeleteUnusedSchedule(ctx context.Context, tx *database.Tx, name string) error {
	_, err := tx.Exec(ctx, "delete from schedule where name = ? and not exists (select 1 from scheduled where schedule = ?)", name, name)
	return err
}
