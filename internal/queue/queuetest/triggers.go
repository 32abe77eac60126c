package queuetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/fault"
	"promoter/internal/queue"
)

var triggers = map[string]func(*testing.T, databasetest.Kind){
	"a hundred triggers in a second are one run": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		for range 100 {
			b.triggerAll(debounced("a"))
			b.clock.Move(10 * time.Millisecond)
		}
		b.none()
		b.clock.Move(5*time.Second - 11*time.Millisecond)
		b.none()
		if wait := b.wait(); wait != time.Millisecond {
			t.Errorf("due in %v, want 1ms", wait)
		}
		b.clock.Move(time.Millisecond)
		b.must(b.Done(t.Context(), b.one(), queue.Result{}))
		b.clock.Move(time.Hour)
		b.none()
	},
	"a run has the time of its first trigger": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		first := b.clock.Now()
		b.clock.Move(time.Second)
		b.trigger("a")
		item := b.one()
		if !item.TriggeredAt.Equal(first) {
			t.Errorf("triggered at %v, want %v", item.TriggeredAt, first)
		}
		b.must(b.Done(t.Context(), item, queue.Result{Next: b.clock.Now().Add(time.Minute)}))
		b.clock.Move(time.Minute)
		if item := b.one(); !item.TriggeredAt.IsZero() {
			t.Errorf("a schedule was triggered at %v", item.TriggeredAt)
		}
	},
	"the debounce time is limited": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		for range 30 {
			b.none()
			b.triggerAll(debounced("a"))
			b.clock.Move(time.Second)
		}
		b.one()
	},
	"the debounce time starts again with the first trigger after a claim": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.triggerAll(debounced("a"))
		b.clock.Move(5 * time.Second)
		item := b.one()
		b.clock.Move(time.Minute)
		b.must(b.Renew(t.Context(), item, lease))
		b.triggerAll(debounced("a"))
		b.must(b.Done(t.Context(), item, queue.Result{}))
		b.none()
		b.clock.Move(5 * time.Second)
		b.one()
	},
	"an urgent trigger does not wait and is not delayed": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.triggerAll(debounced("a"))
		b.none()
		b.trigger("a")
		b.triggerAll(debounced("a"))
		b.one()
	},
	"triggers of one transaction are as urgent as the most urgent one": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.triggerAll(debounced("a"), queue.Trigger{Kind: "repository", Key: "a"}, debounced("a"), debounced("b"))
		b.one()
	},
	"a trigger is rolled back with its transaction": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		wrong := errors.New("wrong")
		err := b.db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			return errors.Join(b.TriggerIn(ctx, tx, queue.Trigger{Kind: "repository", Key: "a"}), wrong)
		})
		if !errors.Is(err, wrong) {
			t.Errorf("error %v", err)
		}
		b.none()
	},
	"names are limited text": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		for _, one := range []queue.Trigger{
			{Key: "a"},
			{Kind: "repository"},
			{Kind: "repository", Key: "a\x00b"},
			{Kind: "repository", Key: "\xff"},
			{Kind: "repository", Key: strings.Repeat("a", 1025)},
			{Kind: strings.Repeat("a", 65), Key: "a"},
			{Kind: "repository", Key: "a", Debounce: -1},
			{Kind: "repository", Key: "a", Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"},
			{Kind: "repository", Key: "a", Trace: strings.Repeat("x", 55)},
		} {
			if err := b.Trigger(t.Context(), one); fault.KindOf(err) != fault.Invalid {
				t.Errorf("trigger %+v: error %v", one, err)
			}
		}
		b.triggerAll(queue.Trigger{Kind: strings.Repeat("ü", 32), Key: strings.Repeat("ü", 512)})
	},
}

// debounced returns a trigger like those of webhooks.
func debounced(key string) queue.Trigger {
	return queue.Trigger{Kind: "repository", Key: key, Debounce: 5 * time.Second, MaxDebounce: 30 * time.Second}
}
