package store_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/image"
	"promoter/internal/store"
)

// hourly is due an hour after the last time.
func hourly(last time.Time) time.Time { return last.Add(time.Hour) }

func (b bench) fire(name string, due func(time.Time) time.Time) (fired bool, next time.Time) {
	b.Helper()
	b.write(func(ctx context.Context, tx *database.Tx) (err error) {
		fired, next, err = b.Fire(ctx, tx, name, false, due)
		return err
	})
	return fired, next
}

func (b bench) setSchedules(lane string, names ...string) (added []string) {
	b.Helper()
	b.write(func(ctx context.Context, tx *database.Tx) (err error) {
		added, err = b.SetSchedules(ctx, tx, lane, names)
		return err
	})
	return added
}

// A schedule comes once for its time, also after another process began, and at once
// when that is asked for.
func TestFire_onceForItsTime(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		if fired, next := b.fire(store.Poll, hourly); !fired || next.Before(time.Now().Add(50*time.Minute)) {
			b.Errorf("a new one: %t, next %v", fired, next)
		}
		for range 2 {
			if fired, next := b.fire(store.Poll, hourly); fired || next.Before(time.Now()) {
				b.Errorf("before its time: %t, next %v", fired, next)
			}
		}
		if fired, _ := b.fire(store.Poll, func(last time.Time) time.Time { return last }); !fired {
			b.Error("when its time was over it did not come")
		}
		b.write(func(ctx context.Context, tx *database.Tx) error {
			fired, _, err := b.Fire(ctx, tx, store.Poll, true, hourly)
			if !fired {
				b.Error("it did not come at once")
			}
			return err
		})
	})
}

// Of many who ask at once, one is told that it came.
func TestFire_oneOfMany(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.setSchedules("github.com/1", "every 1h")
		b.fire("every 1h", hourly)
		var told atomic.Int64
		var all sync.WaitGroup
		first := time.Now()
		for range 8 {
			all.Go(func() {
				err := b.db.Update(b.Context(), func(ctx context.Context, tx *database.Tx) error {
					fired, _, err := b.Fire(ctx, tx, "every 1h", false, func(last time.Time) time.Time {
						if last.Before(first) {
							return last // its time is over
						}
						return last.Add(time.Hour)
					})
					if err == nil && fired {
						tx.AfterCommit(func() { told.Add(1) })
					}
					return err
				})
				if err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		if told.Load() != 1 {
			b.Errorf("%d were told", told.Load())
		}
	})
}

// A lane is looked at for the schedules that it has, and for no others. One that
// nobody had begins with the last poll, and goes with its last lane.
func TestSetSchedules(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.fire(store.Poll, hourly)
		polled := b.moments("a").Fired[store.Poll]
		if added := b.setSchedules("a", "every 1h", "every 2h"); !slices.Equal(added, []string{"every 1h", "every 2h"}) {
			b.Errorf("new are %q", added)
		}
		b.setSchedules("b", "every 1h")
		if added := b.setSchedules("a", "every 1h"); added != nil {
			b.Errorf("new are %q", added)
		}
		if m := b.moments("a"); len(m.Fired) != 2 || !m.Fired["every 1h"].Equal(polled) || polled.IsZero() {
			b.Errorf("the moments are %+v, and that of the poll was %v", m, polled)
		}
		b.write(func(ctx context.Context, tx *database.Tx) error {
			lanes, err := b.RepositoriesOfSchedule(ctx, tx, "every 1h")
			if !slices.Equal(lanes, []string{"a", "b"}) {
				b.Errorf("every hour: %q", lanes)
			}
			for _, name := range []string{"every 1h", "every 2h"} {
				if err == nil {
					err = b.DeleteUnusedSchedule(ctx, tx, name)
				}
			}
			return err
		})
		all, err := b.Schedules(b.Context())
		if err != nil || len(all) != 2 || all[0].Name != "every 1h" || all[0].Repositories != 2 || all[1].Name != store.Poll || all[1].Repositories != 0 {
			b.Errorf("%+v, %v", all, err)
		}
		for _, lane := range []string{"a", "b"} {
			if err := b.DeleteRepository(b.Context(), lane); err != nil {
				b.Fatal(err)
			}
		}
		if all, err := b.Schedules(b.Context()); err != nil || all[0].Repositories != 0 {
			b.Errorf("of repositories that are gone: %+v, %v", all, err)
		}
	})
}

func (b bench) moments(lane string) store.Freshness {
	b.Helper()
	m, err := b.Freshness(b.Context(), lane)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// A refresh is that of its lane, and a hint that of its image, whether it says the
// host or not.
func TestMoments_refreshesAndHints(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		if err := b.RequestRefresh(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
		if first := b.moments("a").Refreshed; first.IsZero() || !b.moments("b").Refreshed.IsZero() {
			b.Errorf("a was refreshed at %v, b at %v", first, b.moments("b").Refreshed)
		}
		web, err := image.ParseRepository("quay.io/acme/web")
		if err != nil {
			b.Fatal(err)
		}
		var last time.Time
		for _, said := range []event.Image{{Host: "quay.io", Path: "acme/other"}, {Host: "quay.io", Path: "acme/web"}, {Path: "acme/web"}} {
			b.write(func(_ context.Context, tx *database.Tx) error {
				b.RecordImageEvent(tx, said)
				return nil
			})
			at, err := b.LastImageEvent(b.Context(), web)
			if err != nil || at.After(last) != (said.Path == "acme/web") {
				b.Errorf("after %+v: %v, %v; before %v", said, at, err, last)
			}
			last = at
		}
	})
}
