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

// short are leases that a test can wait for.
func short() queue.Options {
	return queue.Options{Lease: 200 * time.Millisecond, Poll: 10 * time.Millisecond}
}

var leases = map[string]func(*testing.T, databasetest.Kind){
	"a long run keeps its lease": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		runs := make(chan string, 10)
		p.run(2, short(), func(ctx context.Context, item queue.Item) (queue.Result, error) {
			runs <- item.Key
			// Four leases long. A machine that stands still meanwhile may lose one.
			select {
			case <-time.After(800 * time.Millisecond):
			case <-ctx.Done():
				return queue.Result{}, context.Cause(ctx)
			}
			return queue.Result{}, nil
		})
		p.hint("a")
		p.comes("a", func(e queue.Entry) bool { return idle(e) && len(runs) > 0 })
		if count := len(runs); count > 1 && !strings.Contains(p.log.String(), "lost its lease") {
			t.Errorf("%d runs\n%s", count, p.log)
		}
	},
	"a run whose lease another one has is told": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		causes := make(chan error)
		p.run(1, short(), untilTheEnd(causes))
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
		causes, began := make(chan error), make(chan bool)
		end := untilTheEnd(causes)
		p.run(2, short(), func(ctx context.Context, item queue.Item) (queue.Result, error) {
			close(began)
			return end(ctx, item)
		})
		p.hint("a")
		until(p, "the run", began)
		p.must(p.db.Close())
		if cause := until(p, "the end of the context", causes); !errors.Is(cause, queue.ErrLost) {
			t.Errorf("cause %v", cause)
		}
		p.stop()
		if said := strings.Count(p.log.String(), "the queue can not be read"); said != 1 {
			t.Errorf("the loop said %d times that there is no database\n%s", said, p.log)
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
		if items, _, err := p.Claim(t.Context(), "lane", 1, time.Second); err != nil || len(items) != 1 {
			t.Fatalf("claimed %v, error %v", items, err)
		}
		after := newProcess(t, p.db)
		runs := make(chan string)
		begin := now()
		after.run(1, short(), announce(runs))
		until(after, "the run", runs)
		// One process of SQLite needs not wait; replicas wait for the lease.
		took := now().Sub(begin)
		t.Logf("after %v", took)
		if !p.db.Alone() && took < 500*time.Millisecond {
			t.Errorf("the lease of another replica was not respected: %v", took)
		}
	},
}

// untilTheEnd runs until its context ends, and tells why it did.
func untilTheEnd(causes chan<- error) queue.Handler {
	return func(ctx context.Context, _ queue.Item) (queue.Result, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return queue.Result{}, ctx.Err()
	}
}
