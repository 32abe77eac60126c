package queuetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// never is a poll that no test lives to see.
const never = time.Hour

var loops = map[string]func(*testing.T, databasetest.Kind){
	"a hint wakes the loop": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		runs := make(chan string)
		p.run(1, queue.Options{Poll: never}, announce(runs))
		p.hint("a")
		until(p, "the run of a hint at once", runs)
		p.give(queue.Trigger{Kind: "lane", Key: "b", Debounce: 50 * time.Millisecond})
		until(p, "the run of a hint that waits", runs)
	},
	"a hint of another process is found": func(t *testing.T, kind databasetest.Kind) {
		p, other := pair(t, kind)
		runs := make(chan string)
		p.run(1, queue.Options{Poll: 10 * time.Millisecond}, announce(runs))
		other.hint("a")
		until(p, "the run", runs)
	},
	"a run says when it comes again": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		runs := make(chan string, 3)
		p.run(1, queue.Options{Poll: 10 * time.Millisecond}, func(_ context.Context, item queue.Item) (queue.Result, error) {
			say(runs, item.Key)
			return queue.Result{Next: now().Add(20 * time.Millisecond)}, nil
		})
		p.hint("a")
		for range 3 {
			until(p, "the next run", runs)
		}
	},
	"a panic fails its key alone": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		runs := make(chan string, 1)
		p.run(1, queue.Options{}, func(_ context.Context, item queue.Item) (queue.Result, error) {
			if item.Key == "bad" {
				panic("out of cheese")
			}
			say(runs, item.Key)
			return queue.Result{}, nil
		})
		p.hint("bad", "good")
		until(p, "the run of the other key", runs)
		entry := p.comes("bad", func(e queue.Entry) bool { return e.LastError != "" && e.Owner == "" })
		if !strings.Contains(entry.LastError, "out of cheese") || entry.Attempts != 1 {
			t.Errorf("entry %+v", entry)
		}
		if !strings.Contains(p.log.String(), "queuetest.init.func") && !strings.Contains(p.log.String(), "loops.go") {
			t.Errorf("the log does not say where:\n%s", p.log)
		}
	},
	"a failure is tried again": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		attempts := make(chan int, 10)
		o := queue.Options{Poll: 10 * time.Millisecond, FirstRetry: time.Millisecond, LastRetry: 2 * time.Millisecond}
		p.run(1, o, func(_ context.Context, item queue.Item) (queue.Result, error) {
			attempts <- item.Attempt
			if item.Attempt < 3 {
				return queue.Result{}, errors.New("not yet")
			}
			return queue.Result{}, nil
		})
		p.hint("a")
		for want := 1; want <= 3; want++ {
			if got := until(p, "an attempt", attempts); got != want {
				t.Errorf("attempt %d, want %d", got, want)
			}
		}
		p.comes("a", idle)
	},
	"no more runs than places, and one for each key": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		var busy, most, count atomic.Int64
		var each [5]atomic.Int64
		enough := make(chan bool)
		p.run(3, queue.Options{Poll: 10 * time.Millisecond}, func(_ context.Context, item queue.Item) (queue.Result, error) {
			own := &each[item.Key[0]-'a']
			defer own.Add(-1)
			defer busy.Add(-1)
			if own.Add(1) > 1 {
				t.Errorf("%s runs twice at once", item.Key)
			}
			most.Store(max(most.Load(), busy.Add(1)))
			if count.Add(1) == 50 {
				close(enough)
			}
			return queue.Result{Next: now()}, nil
		})
		p.hint("a", "b", "c", "d", "e")
		until(p, "fifty runs", enough)
		p.stop()
		if most.Load() > 3 {
			t.Errorf("%d runs at once", most.Load())
		}
	},
	"two processes share the work": func(t *testing.T, kind databasetest.Kind) {
		p, other := pair(t, kind)
		const keys = 40
		var runs sync.Map
		var left sync.WaitGroup
		left.Add(keys)
		done := make(chan bool)
		go func() { left.Wait(); close(done) }()
		handler := func(_ context.Context, item queue.Item) (queue.Result, error) {
			if _, again := runs.LoadOrStore(item.Key, true); again {
				t.Errorf("%s ran twice", item.Key)
				return queue.Result{}, nil
			}
			left.Done()
			return queue.Result{}, nil
		}
		for _, each := range []*process{p, other} {
			each.run(2, queue.Options{Poll: 10 * time.Millisecond}, handler)
		}
		for i := range keys {
			p.hint(fmt.Sprint(i))
		}
		until(p, "all keys", done)
	},
}

// announce tells of each run.
func announce(runs chan<- string) queue.Handler {
	return func(ctx context.Context, item queue.Item) (queue.Result, error) {
		select {
		case runs <- item.Key:
			return queue.Result{}, nil
		case <-ctx.Done():
			return queue.Result{}, ctx.Err()
		}
	}
}

// say tells it when somebody wants to know.
func say(runs chan<- string, key string) {
	select {
	case runs <- key:
	default:
	}
}
