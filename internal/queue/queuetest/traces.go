package queuetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

var traces = map[string]func(*testing.T, databasetest.Kind){
	"a run knows the traces of its hints, the oldest first": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.traced(1)
		b.hint("a")
		b.traced(2, 3, 3)
		b.traceable(b.one(), 1, 2, 3)
	},
	"a hint during a run is of the next one": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.traced(1)
		item := b.one()
		b.traced(2)
		b.must(b.Done(t.Context(), item, queue.Result{}))
		b.traceable(b.one(), 2)
	},
	"what did not do well keeps its traces": func(t *testing.T, kind databasetest.Kind) {
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

// trace is a traceparent.
func trace(n int64) string { return fmt.Sprintf("00-%032x-%016x-01", n+1, n+1) }

// traced gives hints for one key in one transaction, with traces.
func (b *bench) traced(all ...int64) {
	b.Helper()
	var hints []queue.Trigger
	for _, n := range all {
		hints = append(hints, queue.Trigger{Kind: "lane", Key: "a", Trace: trace(n)})
	}
	b.give(hints...)
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

// marked is the key of the context that who follows gives.
type marked struct{}

var follows = map[string]func(*testing.T, databasetest.Kind){
	"who follows gives the context of a run and of its lines, and hears of its end": func(t *testing.T, kind databasetest.Kind) {
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
		p.hint("a")
		for _, want := range []string{"a 1: no", "a 2: <nil>"} {
			if got := until(p, "the end", ends); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
	},
}
