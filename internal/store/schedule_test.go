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
		fired, next, err = b.Schedules.Fire(ctx, tx, name, false, due)
		return err
	})
	return fired, next
}

func (b bench) setSchedules(repository string, names ...string) (added []string) {
	b.Helper()
	b.write(func(ctx context.Context, tx *database.Tx) (err error) {
		added, err = b.Schedules.Set(ctx, tx, repository, names)
		return err
	})
	return added
}

func TestFire_firesOnceWhenDueOrForced(t *testing.T) {
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
			b.Error("it did not fire when due")
		}
		b.write(func(ctx context.Context, tx *database.Tx) error {
			fired, _, err := b.Schedules.Fire(ctx, tx, store.Poll, true, hourly)
			if !fired {
				b.Error("it did not fire when forced")
			}
			return err
		})
	})
}

func TestFire_oneConcurrentCallerFires(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.setSchedules("github.com/1", "every 1h")
		b.fire("every 1h", hourly)
		var fires atomic.Int64
		var all sync.WaitGroup
		first := time.Now()
		for range 8 {
			all.Go(func() {
				err := b.db.Update(b.Context(), func(ctx context.Context, tx *database.Tx) error {
					fired, _, err := b.Schedules.Fire(ctx, tx, "every 1h", false, func(last time.Time) time.Time {
						if last.Before(first) {
							return last // its time is over
						}
						return last.Add(time.Hour)
					})
					if err == nil && fired {
						tx.AfterCommit(func() { fires.Add(1) })
					}
					return err
				})
				if err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		if fires.Load() != 1 {
			b.Errorf("%d fired", fires.Load())
		}
	})
}

func TestSetSchedules_replacesAndStartsWithTheLastPoll(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.fire(store.Poll, hourly)
		polled := b.schedules()[0].FiredAt
		if added := b.setSchedules("a", "every 1h", "every 2h"); !slices.Equal(added, []string{"every 1h", "every 2h"}) {
			b.Errorf("new are %q", added)
		}
		b.setSchedules("b", "every 1h")
		if added := b.setSchedules("a", "every 1h"); added != nil {
			b.Errorf("new are %q", added)
		}
		if m := b.freshness("a"); len(m.Fired) != 1 || !m.Fired["every 1h"].Equal(polled) || polled.IsZero() {
			b.Errorf("the freshness is %+v, and that of the poll was %v", m, polled)
		}
		b.write(func(ctx context.Context, tx *database.Tx) error {
			repositories, err := b.Schedules.Repositories(ctx, tx, "every 1h")
			if !slices.Equal(repositories, []string{"a", "b"}) {
				b.Errorf("every hour: %q", repositories)
			}
			for _, name := range []string{"every 1h", "every 2h"} {
				if err == nil {
					err = b.Schedules.DeleteUnused(ctx, tx, name)
				}
			}
			return err
		})
		all, err := b.Schedules.All(b.Context())
		if err != nil || len(all) != 2 || all[0].Name != "every 1h" || all[0].Repositories != 2 || all[1].Name != store.Poll || all[1].Repositories != 0 {
			b.Errorf("%+v, %v", all, err)
		}
		for _, repository := range []string{"a", "b"} {
			if err := b.DeleteRepository(b.Context(), repository); err != nil {
				b.Fatal(err)
			}
		}
		if all, err := b.Schedules.All(b.Context()); err != nil || all[0].Repositories != 0 {
			b.Errorf("of repositories that are gone: %+v, %v", all, err)
		}
	})
}

func (b bench) schedules() []store.Schedule {
	b.Helper()
	all, err := b.Schedules.All(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return all
}

func (b bench) freshness(repository string) store.Freshness {
	b.Helper()
	m, err := b.Freshness(b.Context(), repository, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func TestFreshness_isOfItsRepositoryAndImage(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		if err := b.RequestRefresh(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
		if first := b.freshness("a").Refreshed; first.IsZero() || !b.freshness("b").Refreshed.IsZero() {
			b.Errorf("a was refreshed at %v, b at %v", first, b.freshness("b").Refreshed)
		}
		web, err := image.ParseRepository("quay.io/acme/web")
		if err != nil {
			b.Fatal(err)
		}
		var last time.Time
		for _, named := range []event.Image{{Host: "quay.io", Path: "acme/other"}, {Host: "quay.io", Path: "acme/web"}, {Path: "acme/web"}} {
			b.write(func(ctx context.Context, tx *database.Tx) error {
				return b.ImageEvents.Record(ctx, tx, []event.Image{named})
			})
			at := b.freshness("a").Event(web)
			if at.After(last) != (named.Path == "acme/web") {
				b.Errorf("after %+v: %v; before %v", named, at, last)
			}
			last = at
		}
		if at := b.freshness("b").Event(web); at != last {
			b.Errorf("of another repository: %v, want %v", at, last)
		}
		if err := b.RequestRefresh(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
		if at := b.freshness("a").Event(web); !at.IsZero() {
			b.Errorf("an event before the last refresh counts: %v", at)
		}
	})
}

// Events are read once. What commits late, what another process records, and what is older than
// all that was read before, is not missed.
func TestFreshness_knowsAllEvents(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		parse := func(name string) image.Repository {
			r, err := image.ParseRepository("quay.io/acme/" + name)
			if err != nil {
				b.Fatal(err)
			}
			return r
		}
		record := func(s *store.Store, name string) {
			b.write(func(ctx context.Context, tx *database.Tx) error {
				return s.ImageEvents.Record(ctx, tx, []event.Image{{Host: "quay.io", Path: "acme/" + name}})
			})
		}
		record(b.Store, "old")
		if err := b.RequestRefresh(b.Context(), "late"); err != nil { // asks for events from now on
			b.Fatal(err)
		}
		record(b.Store, "new")
		late := b.freshness("late")
		if !late.Event(parse("old")).IsZero() || late.Event(parse("new")).IsZero() {
			b.Errorf("since the refresh: %v, %v", late.Event(parse("old")), late.Event(parse("new")))
		}
		if whole := b.freshness("early"); whole.Event(parse("old")).IsZero() || whole.Event(parse("new")).IsZero() {
			b.Errorf("of all time: %v, %v", whole.Event(parse("old")), whole.Event(parse("new")))
		}
		record(store.New(b.db), "other") // another replica
		b.write(func(ctx context.Context, tx *database.Tx) error {
			_, err := tx.Exec(ctx, "insert into image_event (host, path, event_at) values ('quay.io', 'acme/slow', @now - 30000000)")
			return err
		})
		for _, name := range []string{"old", "new", "other", "slow"} {
			if b.freshness("early").Event(parse(name)).IsZero() {
				b.Errorf("%s has no event", name)
			}
		}
	})
}
