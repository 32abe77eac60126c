package queuetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

var claims = map[string]func(*testing.T, databasetest.Kind){
	"a key has one run while its lease is valid": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		item := b.one()
		b.trigger("a")
		b.none()
		b.clock.Move(lease - time.Microsecond)
		b.none()
		b.must(b.Renew(t.Context(), item, lease))
		b.clock.Move(lease - time.Microsecond)
		b.none()
		b.clock.Move(time.Microsecond)
		b.one()
	},
	"a run without its lease changes nothing": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
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
	"work that is due longest comes first": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		for _, key := range []string{"c", "a", "b"} {
			b.trigger(key)
			b.clock.Move(time.Second)
		}
		for _, want := range []string{"c", "a", "b"} {
			if found := b.claim(1); found[want].Key != want {
				t.Errorf("claimed %v, want %s", found, want)
			}
		}
	},
	"claim returns when something is due": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		if wait := b.wait(); wait != math.MaxInt64 {
			t.Errorf("nothing is due in %v", wait)
		}
		b.triggerAll(debounced("a"))
		if wait := b.wait(); wait != 5*time.Second {
			t.Errorf("a trigger is due in %v", wait)
		}
		b.clock.Move(5 * time.Second)
		b.one()
		if wait := b.wait(); wait != lease {
			t.Errorf("a run is due in %v", wait)
		}
	},
	"kinds are independent": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.triggerAll(queue.Trigger{Kind: "message", Key: "a"})
		b.none()
		b.trigger("a")
		b.one()
	},
	"concurrent claims share the work": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		const keys = 60
		for i := range keys {
			b.trigger(string(rune('A' + i)))
		}
		var all sync.WaitGroup
		found := make([][]queue.Item, 6)
		for i := range found {
			all.Go(func() {
				for {
					claimed, err := b.Claim(t.Context(), claimOf(3))
					if err != nil || len(claimed.Items) == 0 {
						if err != nil {
							t.Error(err)
						}
						return
					}
					found[i] = append(found[i], claimed.Items...)
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

var ends = map[string]func(*testing.T, databasetest.Kind){
	"a trigger during a run leads to another run": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		for _, result := range []queue.Result{{}, {Forget: true}, {Next: b.clock.Now().Add(time.Hour)}} {
			item := b.one()
			b.trigger("a")
			b.must(b.Done(t.Context(), item, result))
		}
		b.must(b.Done(t.Context(), b.one(), queue.Result{}))
		b.none()
	},
	"a trigger during a failing run is not lost": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		item := b.one()
		b.trigger("a")
		b.must(b.Fail(t.Context(), item, queue.Failure{Reason: "no", Delay: time.Minute, MinDelay: time.Minute}))
		b.none()
		b.clock.Move(time.Minute)
		b.must(b.Done(t.Context(), b.one(), queue.Result{}))
		b.none()
	},
	"a failure is delayed, has a reason, and is reset by success": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		b.must(b.Fail(t.Context(), b.one(), queue.Failure{Reason: "the forge is down", Delay: time.Minute, MinDelay: time.Minute}))
		entry := b.entry("a")
		if entry.LastError != "the forge is down" || entry.Attempts != 1 || !entry.FailedAt.Equal(b.clock.Now()) ||
			!entry.NotBefore.Equal(b.clock.Now().Add(time.Minute)) {
			t.Errorf("entry %+v", entry)
		}
		b.trigger("a")
		b.none()
		b.clock.Move(time.Minute)
		item := b.one()
		if item.Attempt != 2 {
			t.Errorf("attempt %d", item.Attempt)
		}
		b.must(b.Done(t.Context(), item, queue.Result{}))
		if entry := b.entry("a"); entry.LastError != "" || entry.Attempts != 0 || !entry.FailedAt.IsZero() || !entry.NotBefore.IsZero() {
			t.Errorf("entry after a good run %+v", entry)
		}
	},
	"a trigger retries a failure earlier, after the minimum delay": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a", "b")
		for _, item := range b.claim(2) {
			b.must(b.Fail(t.Context(), item, queue.Failure{Reason: "no", Delay: time.Hour, MinDelay: time.Minute}))
		}
		b.trigger("a")
		b.none()
		b.clock.Move(time.Minute)
		b.one()
		b.clock.Move(time.Hour)
		b.claim(2)
	},
	"a trigger before the retry does not delay it": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		fail := func(attempt int) {
			t.Helper()
			item := b.one()
			if item.Attempt != attempt {
				t.Errorf("attempt %d, want %d", item.Attempt, attempt)
			}
			b.must(b.Fail(t.Context(), item, queue.Failure{Reason: "no", Delay: time.Duration(item.Attempt) * time.Minute, MinDelay: time.Second}))
		}
		fail(1)
		for range 9 {
			b.clock.Move(time.Second)
			b.trigger("a")
			fail(1)
		}
		b.must(b.Release(t.Context(), func() queue.Item { b.clock.Move(time.Second); b.trigger("a"); return b.one() }(), 50*time.Second))
		if entry := b.entry("a"); entry.Attempts != 1 || !entry.NotBefore.Equal(b.clock.Now().Add(50*time.Second)) {
			t.Errorf("entry %+v", entry)
		}
		b.clock.Move(50 * time.Second)
		fail(2)
		b.clock.Move(2 * time.Minute)
		fail(3)
	},
	"a failure is retried at its time": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		at := b.clock.Now().Add(time.Hour)
		b.must(b.Fail(t.Context(), b.one(), queue.Failure{Reason: "limit", Delay: time.Second, RetryAt: at, NotBefore: at}))
		b.trigger("a")
		if wait := b.wait(); wait != time.Hour {
			t.Errorf("due in %v", wait)
		}
	},
	"a schedule runs at its time": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		b.must(b.Done(t.Context(), b.one(), queue.Result{Next: b.clock.Now().Add(time.Hour)}))
		if wait := b.wait(); wait != time.Hour {
			t.Errorf("due in %v", wait)
		}
		if entry := b.entry("a"); !entry.TriggeredAt.IsZero() || !entry.NotBefore.Equal(b.clock.Now().Add(time.Hour)) {
			t.Errorf("entry %+v", entry)
		}
		b.clock.Move(time.Hour)
		b.must(b.Done(t.Context(), b.one(), queue.Result{}))
		b.clock.Move(24 * time.Hour)
		b.none()
	},
	"a trigger runs a schedule earlier": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		b.must(b.Done(t.Context(), b.one(), queue.Result{Next: b.clock.Now().Add(time.Hour)}))
		b.triggerAll(debounced("a"))
		b.none()
		b.clock.Move(5 * time.Second)
		b.one()
	},
	"a forgotten key has no row": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		b.must(b.Done(t.Context(), b.one(), queue.Result{Forget: true}))
		all, err := b.Entries(t.Context(), "repository", "", 10)
		if b.must(err); len(all) > 0 {
			t.Errorf("entries %v", all)
		}
		b.trigger("a")
		b.one()
	},
	"a released run does not count": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		b.must(b.Release(t.Context(), b.one(), 0))
		item := b.one()
		if item.Attempt != 1 {
			t.Errorf("attempt %d", item.Attempt)
		}
		b.must(b.Release(t.Context(), item, time.Second))
		b.none()
		b.clock.Move(time.Second)
		b.one()
	},
	"an error is limited text": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		b.must(b.Fail(t.Context(), b.one(), queue.Failure{Reason: "\x00\xff" + strings.Repeat("ü", 5000)}))
		if kept := b.entry("a").LastError; len(kept) > 2010 || !utf8.ValidString(kept) || !strings.HasSuffix(kept, "ü…") {
			t.Errorf("kept %d bytes: %q", len(kept), kept)
		}
	},
}

var traces = map[string]func(*testing.T, databasetest.Kind){
	"a run has the traces of its triggers, oldest first": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.traced(1)
		b.trigger("a")
		b.traced(2, 3, 3)
		b.traceable(b.one(), 1, 2, 3)
	},
	"the trace of a trigger during a run belongs to the next run": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.traced(1)
		item := b.one()
		b.traced(2)
		b.must(b.Done(t.Context(), item, queue.Result{}))
		b.traceable(b.one(), 2)
	},
	"a failed run keeps its traces": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.traced(1)
		b.must(b.Fail(t.Context(), b.one(), queue.Failure{}))
		b.traced(2)
		b.must(b.Release(t.Context(), b.one(), 0))
		b.one()
		b.clock.Move(lease)
		item := b.one()
		b.traceable(item, 1, 2)
		b.must(b.Done(t.Context(), item, queue.Result{Next: b.clock.Now().Add(time.Minute)}))
		b.clock.Move(time.Minute)
		b.traceable(b.one())
	},
	"the last 20 traces are kept": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		for i := range int64(15) {
			b.traced(i)
		}
		b.must(b.Release(t.Context(), b.one(), 0))
		var last []int64
		for i := int64(15); i < 30; i++ {
			b.traced(i)
		}
		for i := int64(10); i < 30; i++ {
			last = append(last, i)
		}
		b.traceable(b.one(), last...)
	},
}

// trace returns a traceparent.
func trace(n int64) string { return fmt.Sprintf("00-%032x-%016x-01", n+1, n+1) }

// traced triggers one key in one transaction, with traces.
func (b *bench) traced(all ...int64) {
	b.Helper()
	var sent []queue.Trigger
	for _, n := range all {
		sent = append(sent, queue.Trigger{Kind: "repository", Key: "a", Trace: trace(n)})
	}
	b.triggerAll(sent...)
}

func (b *bench) traceable(item queue.Item, want ...int64) {
	b.Helper()
	var all []string
	for _, n := range want {
		all = append(all, trace(n))
	}
	if diff := cmp.Diff(all, item.Traces); diff != "" {
		b.Errorf("traces (-want +got):\n%s", diff)
	}
}

// marked is the key of the context that the tracer provides.
type marked struct{}

var tracing = map[string]func(*testing.T, databasetest.Kind){
	"the tracer provides the context of a run and receives its result": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		ends := make(chan string, 2)
		follow := func(ctx context.Context, item queue.Item) (context.Context, func(error)) {
			return context.WithValue(ctx, marked{}, item.Key), func(err error) { say(ends, fmt.Sprint(item.Key, " ", item.Attempt, ": ", err)) }
		}
		p.run(1, queue.Options{Trace: follow, FirstRetry: time.Millisecond}, func(ctx context.Context, item queue.Item) (queue.Result, error) {
			if ctx.Value(marked{}) != item.Key {
				t.Errorf("the context of %s is of %v", item.Key, ctx.Value(marked{}))
			}
			if item.Attempt == 1 {
				return queue.Result{}, errors.New("no")
			}
			return queue.Result{}, nil
		})
		p.trigger("a")
		for _, want := range []string{"a 1: no", "a 2: <nil>"} {
			if got := until(p, "the end", ends); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	},
}

var lists = map[string]func(*testing.T, databasetest.Kind){
	"statistics count waiting, running, and failing work": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("running", "failing", "scheduled", "idle")
		found := b.claim(4)
		b.must(b.Fail(t.Context(), found["failing"], queue.Failure{Reason: "no", Delay: time.Hour}))
		b.must(b.Done(t.Context(), found["scheduled"], queue.Result{Next: b.clock.Now().Add(time.Hour)}))
		b.must(b.Done(t.Context(), found["idle"], queue.Result{}))
		b.clock.Move(time.Second)
		b.trigger("waiting")
		b.triggerAll(queue.Trigger{Kind: "message", Key: "one"})
		b.clock.Move(2 * time.Second)
		got, err := b.Stats(t.Context())
		b.must(err)
		want := []queue.Stat{
			{Kind: "message", Waiting: 1, Oldest: 2 * time.Second},
			{Kind: "repository", Waiting: 2, Running: 1, Failing: 1, Oldest: 3 * time.Second},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("figures (-want +got):\n%s", diff)
		}
	},
	"entries are listed in pages": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("c", "a", "d", "b")
		var keys []string
		for after := ""; ; {
			page, err := b.Entries(t.Context(), "repository", after, 3)
			b.must(err)
			if len(page) == 0 {
				break
			}
			for _, one := range page {
				keys = append(keys, one.Key)
			}
			after = page[len(page)-1].Key
		}
		if diff := cmp.Diff([]string{"a", "b", "c", "d"}, keys); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
	},
}
