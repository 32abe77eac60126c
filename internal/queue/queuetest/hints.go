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

var hints = map[string]func(*testing.T, databasetest.Kind){
	"a hundred hints in a second are one run": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		for range 100 {
			b.give(quietly("a"))
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
	"a run knows the first hint that it is for": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		first := b.clock.Now()
		b.clock.Move(time.Second)
		b.hint("a")
		item := b.one()
		if !item.TriggeredAt.Equal(first) {
			t.Errorf("hinted at %v, want %v", item.TriggeredAt, first)
		}
		b.must(b.Done(t.Context(), item, queue.Result{Next: b.clock.Now().Add(time.Minute)}))
		b.clock.Move(time.Minute)
		if item := b.one(); !item.TriggeredAt.IsZero() {
			t.Errorf("a schedule was hinted at %v", item.TriggeredAt)
		}
	},
	"a stream of hints starves nothing": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		for range 30 {
			b.none()
			b.give(quietly("a"))
			b.clock.Move(time.Second)
		}
		b.one()
	},
	"the quiet time begins anew with the first hint after a claim": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.give(quietly("a"))
		b.clock.Move(5 * time.Second)
		item := b.one()
		b.clock.Move(time.Minute)
		b.must(b.Renew(t.Context(), item, lease))
		b.give(quietly("a"))
		b.must(b.Done(t.Context(), item, queue.Result{}))
		b.none()
		b.clock.Move(5 * time.Second)
		b.one()
	},
	"an urgent hint does not wait and is not put off": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.give(quietly("a"))
		b.none()
		b.hint("a")
		b.give(quietly("a"))
		b.one()
	},
	"hints of one transaction are as urgent as the most urgent": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.give(quietly("a"), queue.Trigger{Kind: "lane", Key: "a"}, quietly("a"), quietly("b"))
		b.one()
	},
	"a hint is as durable as its transaction": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		wrong := errors.New("wrong")
		err := b.db.Batch(t.Context(), func(_ context.Context, tx *database.Tx) error {
			return errors.Join(b.TriggerIn(tx, queue.Trigger{Kind: "lane", Key: "a"}), wrong)
		})
		if !errors.Is(err, wrong) {
			t.Errorf("error %v", err)
		}
		b.none()
	},
	"names are bounded text": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		for _, hint := range []queue.Trigger{
			{Key: "a"},
			{Kind: "lane"},
			{Kind: "lane", Key: "a\x00b"},
			{Kind: "lane", Key: "\xff"},
			{Kind: "lane", Key: strings.Repeat("a", 1025)},
			{Kind: strings.Repeat("a", 65), Key: "a"},
			{Kind: "lane", Key: "a", Debounce: -1},
			{Kind: "lane", Key: "a", Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"},
			{Kind: "lane", Key: "a", Trace: strings.Repeat("x", 55)},
		} {
			if err := b.Trigger(t.Context(), hint); fault.KindOf(err) != fault.Invalid {
				t.Errorf("hint %q: error %v", hint, err)
			}
		}
		b.give(queue.Trigger{Kind: strings.Repeat("ü", 32), Key: strings.Repeat("ü", 512)})
	},
}

// quietly is a hint as webhooks give it.
func quietly(key string) queue.Trigger {
	return queue.Trigger{Kind: "lane", Key: key, Debounce: 5 * time.Second, MaxDebounce: 30 * time.Second}
}
