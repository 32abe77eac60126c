package queuetest

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

var claims = map[string]func(*testing.T, databasetest.Kind){
	"a key has one run while its lease is good": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		item := b.one()
		b.hint("a")
		b.none()
		b.clock.Move(lease - time.Microsecond)
		b.none()
		b.must(b.Renew(t.Context(), item, lease))
		b.clock.Move(lease - time.Microsecond)
		b.none()
		b.clock.Move(time.Microsecond)
		b.one()
	},
	"whoever lost the lease changes nothing": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		late := b.one()
		b.clock.Move(lease)
		item := b.one()
		for name, err := range map[string]error{
			"renew":   b.Renew(t.Context(), late, lease),
			"release": b.Release(t.Context(), late, 0),
			"fail":    b.Fail(t.Context(), late, queue.Failure{Reason: "late"}),
			"done":    b.Done(t.Context(), late, queue.Result{}),
			"next":    b.Done(t.Context(), late, queue.Result{Next: b.clock.Now()}),
			"forget":  b.Done(t.Context(), late, queue.Result{Forget: true}),
		} {
			if !errors.Is(err, queue.ErrLost) {
				t.Errorf("%s: error %v", name, err)
			}
		}
		if entry := b.entry("a"); entry.LastError != "" || entry.Owner == "" {
			t.Errorf("the row was changed: %+v", entry)
		}
		b.must(b.Done(t.Context(), item, queue.Result{}))
	},
	"those due for the longest time come first": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		for _, key := range []string{"c", "a", "b"} {
			b.hint(key)
			b.clock.Move(time.Second)
		}
		for _, want := range []string{"c", "a", "b"} {
			if found := b.claim(1); found[want].Key != want {
				t.Errorf("claimed %v, want %s", found, want)
			}
		}
	},
	"it is known when something is due": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		if wait := b.wait(); wait != math.MaxInt64 {
			t.Errorf("nothing is due in %v", wait)
		}
		b.give(quietly("a"))
		if wait := b.wait(); wait != 5*time.Second {
			t.Errorf("a hint is due in %v", wait)
		}
		b.clock.Move(5 * time.Second)
		b.one()
		if wait := b.wait(); wait != lease {
			t.Errorf("a run is due in %v", wait)
		}
	},
	"kinds do not meet": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.give(queue.Trigger{Kind: "message", Key: "a"})
		b.none()
		b.hint("a")
		b.one()
	},
	"what takes its process down is held back from the third time on": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		for range 2 {
			b.one()
			b.clock.Move(lease)
		}
		item := b.one()
		if item.Attempt != 3 {
			t.Errorf("attempt %d", item.Attempt)
		}
		if wait := b.wait(); wait != lease+time.Minute {
			t.Errorf("it is due in %v", wait)
		}
		b.clock.Move(lease + time.Minute - time.Microsecond)
		if wait := b.wait(); wait != time.Microsecond { // else it would be asked for all the time
			t.Errorf("it is due in %v", wait)
		}
		b.none()
		b.clock.Move(time.Microsecond)
		b.one()
	},
	"many who claim at once share the work": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		const keys = 60
		for i := range keys {
			b.hint(string(rune('A' + i)))
		}
		var all sync.WaitGroup
		found := make([][]queue.Item, 6)
		for i := range found {
			all.Go(func() {
				for {
					items, _, err := b.Claim(t.Context(), "lane", 3, lease)
					if err != nil || len(items) == 0 {
						if err != nil {
							t.Error(err)
						}
						return
					}
					found[i] = append(found[i], items...)
				}
			})
		}
		all.Wait()
		var claimed []string
		for _, item := range slices.Concat(found...) {
			claimed = append(claimed, item.Key)
		}
		slices.Sort(claimed)
		if got := len(slices.Compact(slices.Clone(claimed))); got != keys || len(claimed) != keys {
			t.Errorf("%d runs of %d keys, want %d", len(claimed), got, keys)
		}
	},
}
