package queuetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// process is a process with its queue, its loop and its log.
type process struct {
	*bench
	log    *lines
	cancel func() // tells the loop to stop
	stop   func() // and waits until it has
}

// now is the time of the machine, by which loops work.
func now() time.Time { return time.Now() } //nolint:forbidigo // see above

// patience limits how long a test waits for an expected event.
const patience = 2 * time.Minute

// newProcess opens the database with the real clock. A second process with the
// same options is a replica on PostgreSQL, and a second queue of one process on
// SQLite.
func newProcess(t *testing.T, db *database.DB) *process {
	t.Helper()
	q, err := queue.New(t.Context(), db, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	return &process{bench: &bench{T: t, db: db, Queue: q}, log: &lines{}}
}

// pair returns two processes.
func pair(t *testing.T, kind databasetest.Kind) (one, other *process) {
	t.Helper()
	o := kind.New(t)
	db := databasetest.Open(t, o)
	one = newProcess(t, db)
	if !db.SingleProcess() {
		db = databasetest.Open(t, o)
	}
	return one, newProcess(t, db)
}

func single(t *testing.T, kind databasetest.Kind) *process {
	t.Helper()
	return newProcess(t, databasetest.Open(t, kind.New(t)))
}

// run processes keys until the test ends or stops it.
func (p *process) run(concurrent int, o queue.Options, handler queue.Handler) {
	p.Helper()
	o.Kinds = map[string]queue.Worker{"repository": {Handler: handler, Concurrency: concurrent}}
	o.Log = slog.New(slog.NewTextHandler(p.log, nil))
	if o.Random == nil {
		o.Random = func() float64 { return 0 }
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := p.Queue.Run(ctx, o); err != nil {
			p.Error(err)
		}
	})
	p.cancel = cancel
	p.stop = func() {
		cancel()
		ended.Wait()
	}
	p.Cleanup(p.stop)
}

// until waits for a value from the channel.
func until[T any](p *process, what string, from <-chan T) (got T) {
	p.Helper()
	select {
	case got = <-from:
	case <-time.After(patience):
		p.Fatalf("timed out waiting for %s\n%s", what, p.log)
	}
	return got
}

// comes waits until a row has the expected content.
func (p *process) comes(key string, want func(queue.Entry) bool) queue.Entry {
	p.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	over := time.After(patience)
	for {
		entry := p.entry(key)
		if want(entry) {
			return entry
		}
		select {
		case <-tick.C:
		case <-over:
			p.Fatalf("the row of %s stayed %+v\n%s", key, entry, p.log)
		}
	}
}

// idle reports whether no process works on the row and nothing is due.
func idle(e queue.Entry) bool { return e.Owner == "" && e.NotBefore.IsZero() }

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(line) // of no error
	return len(line), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// never is a poll interval longer than any test.
const never = time.Hour

var loops = map[string]func(*testing.T, databasetest.Kind){
	"a trigger wakes the loop": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		runs := make(chan string)
		p.run(1, queue.Options{Poll: never}, announce(runs))
		p.trigger("a")
		until(p, "the run of an immediate trigger", runs)
		p.triggerAll(queue.Trigger{Kind: "repository", Key: "b", Debounce: 50 * time.Millisecond})
		until(p, "the run of a debounced trigger", runs)
	},
	"a trigger of another process is found": func(t *testing.T, kind databasetest.Kind) {
		p, other := pair(t, kind)
		runs := make(chan string)
		p.run(1, queue.Options{Poll: 10 * time.Millisecond}, announce(runs))
		other.trigger("a")
		until(p, "the run", runs)
	},
	"a run sets the time of the next run": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		runs := make(chan string, 3)
		p.run(1, queue.Options{Poll: 10 * time.Millisecond}, func(_ context.Context, item queue.Item) (queue.Result, error) {
			say(runs, item.Key)
			return queue.Result{Next: now().Add(20 * time.Millisecond)}, nil
		})
		p.trigger("a")
		for range 3 {
			until(p, "the next run", runs)
		}
	},
	"a panic fails only its key": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		runs := make(chan string, 1)
		p.run(1, queue.Options{}, func(_ context.Context, item queue.Item) (queue.Result, error) {
			if item.Key == "bad" {
				panic("out of cheese")
			}
			say(runs, item.Key)
			return queue.Result{}, nil
		})
		p.trigger("bad", "good")
		until(p, "the run of the other key", runs)
		entry := p.comes("bad", func(e queue.Entry) bool { return e.LastError != "" && e.Owner == "" })
		if !strings.Contains(entry.LastError, "out of cheese") || entry.Attempts != 1 {
			t.Errorf("entry %+v", entry)
		}
		if !strings.Contains(p.log.String(), "queuetest.init.func") && !strings.Contains(p.log.String(), "worker.go") {
			t.Errorf("the log does not name the source line:\n%s", p.log)
		}
	},
	"a failure is retried": func(t *testing.T, kind databasetest.Kind) {
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
		p.trigger("a")
		for want := 1; want <= 3; want++ {
			if got := until(p, "an attempt", attempts); got != want {
				t.Errorf("attempt %d, want %d", got, want)
			}
		}
		p.comes("a", idle)
	},
	"concurrency is limited, and one run per key": func(t *testing.T, kind databasetest.Kind) {
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
		p.trigger("a", "b", "c", "d", "e")
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
			p.trigger(fmt.Sprint(i))
		}
		until(p, "all keys", done)
	},
}

// announce returns a handler that announces each run.
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

// say announces a run if a receiver is ready.
func say(runs chan<- string, key string) {
	select {
	case runs <- key:
	default:
	}
}

// short returns leases that a test can wait for. A claim that takes longer than
// the time between two renewals gives up.
func short() queue.Options {
	return queue.Options{Lease: 4 * time.Second, Renew: 2 * time.Second, Poll: 10 * time.Millisecond, FirstCrash: time.Millisecond}
}

var leases = map[string]func(*testing.T, databasetest.Kind){
	"a long run keeps its lease": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		runs, may := make(chan string, 10), make(chan bool)
		o := queue.Options{Lease: time.Minute, Renew: 500 * time.Millisecond}
		p.run(2, o, func(_ context.Context, item queue.Item) (queue.Result, error) {
			say(runs, item.Key)
			<-may
			return queue.Result{}, nil
		})
		p.trigger("a")
		until(p, "the run", runs)
		for range 2 {
			p.renewed("a")
		}
		close(may)
		p.comes("a", idle)
		if len(runs) > 0 {
			t.Error("it ran twice")
		}
	},
	"a run is canceled when another one holds its lease": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		causes, o := make(chan error, 10), short()
		o.Lease = time.Hour // so that its expiry is not what is announced
		p.run(1, o, untilTheEnd(causes))
		p.trigger("a")
		p.comes("a", func(e queue.Entry) bool { return e.Owner != "" })
		p.must(p.db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			_, err := tx.Exec(ctx, "update work set owner = 'thief', lease_until = @now + 3600000000")
			return err
		}))
		if cause := until(p, "the end of the context", causes); !errors.Is(cause, queue.ErrLost) {
			t.Errorf("cause %v", cause)
		}
		p.stop()
		if entry := p.entry("a"); entry.Owner != "thief" || entry.LastError != "" {
			t.Errorf("the row was changed: %+v", entry)
		}
	},
	"a run is canceled in time when the database is gone": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		causes, began := make(chan error, 10), make(chan string, 10)
		end := untilTheEnd(causes)
		p.run(2, short(), func(ctx context.Context, item queue.Item) (queue.Result, error) {
			say(began, item.Key)
			return end(ctx, item)
		})
		p.trigger("a")
		until(p, "the run", began)
		p.must(p.db.Close())
		if cause := until(p, "the end of the context", causes); !errors.Is(cause, queue.ErrLost) {
			t.Errorf("cause %v", cause)
		}
		p.stop()
		// A slow machine may have logged it earlier, and recovered.
		log := p.log.String()
		said, back := strings.Count(log, "queue unavailable"), strings.Count(log, "queue available again")
		if said != back+1 {
			t.Errorf("the loop logged %d times that the queue is unavailable, and %d times that it is available again\n%s", said, back, log)
		}
	},
	"stopping waits for runs and starts none": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		began, may := make(chan string, 10), make(chan bool)
		p.run(1, queue.Options{Poll: 10 * time.Millisecond}, func(ctx context.Context, item queue.Item) (queue.Result, error) {
			began <- item.Key
			<-may
			return queue.Result{}, ctx.Err()
		})
		p.trigger("a", "b")
		key := until(p, "a run", began)
		p.cancel()
		may <- true
		p.stop()
		if entry := p.entry(key); !idle(entry) || entry.LastError != "" || len(began) > 0 {
			t.Errorf("entry %+v, begun %d", entry, len(began))
		}
	},
	"a run that does not end in time is released": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		causes := make(chan error, 1)
		p.run(1, queue.Options{Drain: time.Millisecond}, untilTheEnd(causes))
		p.trigger("a")
		p.comes("a", func(e queue.Entry) bool { return e.Owner != "" })
		p.stop()
		if cause := until(p, "the end of the context", causes); !errors.Is(cause, queue.ErrStopping) {
			t.Errorf("cause %v", cause)
		}
		if entry := p.entry("a"); entry.Owner != "" || entry.Attempts != 0 || entry.LastError != "" || entry.NotBefore.IsZero() {
			t.Errorf("entry %+v", entry)
		}
	},
	"a run that ignores the end of its context does not delay the exit": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		began, end := make(chan string, 1), make(chan bool)
		p.run(1, queue.Options{Drain: time.Millisecond, Grace: time.Second}, func(_ context.Context, item queue.Item) (queue.Result, error) {
			began <- item.Key
			<-end
			return queue.Result{}, nil
		})
		p.trigger("a")
		until(p, "the run", began)
		p.stop()
		if entry := p.entry("a"); entry.Owner != "" || entry.Attempts != 0 || entry.NotBefore.IsZero() {
			t.Errorf("entry %+v", entry)
		}
		close(end)
		p.restart()
		p.one() // it is no suspect
	},
	"the work of a crashed process continues": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		p.trigger("a")
		length := 2 * time.Second
		if p.db.SingleProcess() {
			length = time.Minute
		}
		o := claimOf(1)
		o.Lease = length
		if claimed := p.claimWith(o); len(claimed) != 1 {
			t.Fatalf("claimed %v", claimed)
		}
		good := p.leaseOf("a")
		after := newProcess(t, p.db)
		began := make(chan time.Time, 10)
		after.run(1, short(), func(context.Context, queue.Item) (queue.Result, error) {
			began <- now()
			return queue.Result{}, nil
		})
		// A single process on SQLite does not wait; replicas wait for the
		// lease.
		if at := until(after, "the run", began); at.Before(good) != p.db.SingleProcess() {
			t.Errorf("it began at %v, and the lease was good until %v", at, good)
		}
	},
}

// renewed waits until the lease of a key is extended.
func (p *process) renewed(key string) {
	p.Helper()
	before := p.leaseOf(key)
	p.comes(key, func(queue.Entry) bool { return p.leaseOf(key).After(before) })
}

// leaseOf returns when the lease of the key expires.
func (p *process) leaseOf(key string) time.Time {
	p.Helper()
	var micros int64
	p.must(p.db.View(p.Context(), func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{&micros}, "select lease_until from work where kind = 'repository' and key = ?", key)
	}))
	return database.Time(micros)
}

// untilTheEnd runs until its context ends, and sends the cause.
func untilTheEnd(causes chan<- error) queue.Handler {
	return func(ctx context.Context, _ queue.Item) (queue.Result, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return queue.Result{}, ctx.Err()
	}
}
