package queuetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// short are leases that a test can wait for. No claim takes as long as it is between two
// renewals: who has it gives up then.
func short() queue.Options {
	return queue.Options{Lease: 4 * time.Second, Renew: 2 * time.Second, Poll: 10 * time.Millisecond}
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
		p.hint("a")
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
	"a run whose lease another one has is told": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		causes, o := make(chan error, 10), short()
		o.Lease = time.Hour // whose end is not what tells it
		p.run(1, o, untilTheEnd(causes))
		p.hint("a")
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
	"a run is told in time when the database is gone": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		causes, began := make(chan error, 10), make(chan string, 10)
		end := untilTheEnd(causes)
		p.run(2, short(), func(ctx context.Context, item queue.Item) (queue.Result, error) {
			say(began, item.Key)
			return end(ctx, item)
		})
		p.hint("a")
		until(p, "the run", began)
		p.must(p.db.Close())
		if cause := until(p, "the end of the context", causes); !errors.Is(cause, queue.ErrLost) {
			t.Errorf("cause %v", cause)
		}
		p.stop()
		// A machine that stands still may have said it before, and taken it back.
		log := p.log.String()
		said, back := strings.Count(log, "the queue can not be read"), strings.Count(log, "the queue can be read again")
		if said != back+1 {
			t.Errorf("the loop said %d times that there is no database, and %d times that it is back\n%s", said, back, log)
		}
	},
	"stopping waits for runs and begins none": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		began, may := make(chan string, 10), make(chan bool)
		p.run(1, queue.Options{Poll: 10 * time.Millisecond}, func(ctx context.Context, item queue.Item) (queue.Result, error) {
			began <- item.Key
			<-may
			return queue.Result{}, ctx.Err()
		})
		p.hint("a", "b")
		key := until(p, "a run", began)
		p.cancel()
		may <- true
		p.stop()
		if entry := p.entry(key); !idle(entry) || entry.LastError != "" || len(began) > 0 {
			t.Errorf("entry %+v, begun %d", entry, len(began))
		}
	},
	"a run that does not end in time is given back": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		causes := make(chan error, 1)
		p.run(1, queue.Options{Drain: time.Millisecond}, untilTheEnd(causes))
		p.hint("a")
		p.comes("a", func(e queue.Entry) bool { return e.Owner != "" })
		p.stop()
		if cause := until(p, "the end of the context", causes); !errors.Is(cause, queue.ErrStopping) {
			t.Errorf("cause %v", cause)
		}
		if entry := p.entry("a"); entry.Owner != "" || entry.Attempts != 0 || entry.LastError != "" || entry.NotBefore.IsZero() {
			t.Errorf("entry %+v", entry)
		}
	},
	"the work of a process that died goes on": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		p.hint("a")
		length := 2 * time.Second
		if p.db.SingleProcess() {
			length = time.Minute
		}
		if items, _, err := p.Claim(t.Context(), "lane", 1, length); err != nil || len(items) != 1 {
			t.Fatalf("claimed %v, error %v", items, err)
		}
		good := p.leaseOf("a")
		after := newProcess(t, p.db)
		began := make(chan time.Time, 10)
		after.run(1, short(), func(context.Context, queue.Item) (queue.Result, error) {
			began <- now()
			return queue.Result{}, nil
		})
		// One process of SQLite needs not wait; replicas wait for the lease.
		if at := until(after, "the run", began); at.Before(good) != p.db.SingleProcess() {
			t.Errorf("it began at %v, and the lease was good until %v", at, good)
		}
	},
}

// renewed waits until the lease of a key lasts longer than it does now.
func (p *process) renewed(key string) {
	p.Helper()
	before := p.leaseOf(key)
	p.comes(key, func(queue.Entry) bool { return p.leaseOf(key).After(before) })
}

// leaseOf is until when the key is held.
func (p *process) leaseOf(key string) time.Time {
	p.Helper()
	var micros int64
	p.must(p.db.View(p.Context(), func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{&micros}, "select lease_until from work where kind = 'lane' and key = ?", key)
	}))
	return database.Time(micros)
}

// untilTheEnd runs until its context ends, and tells why it did.
func untilTheEnd(causes chan<- error) queue.Handler {
	return func(ctx context.Context, _ queue.Item) (queue.Result, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return queue.Result{}, ctx.Err()
	}
}
