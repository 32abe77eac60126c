package queuetest

import (
	"sync"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// Run runs the whole suite on one kind of database.
func Run(t *testing.T, kind databasetest.Kind) {
	t.Helper()
	for _, group := range []map[string]func(*testing.T, databasetest.Kind){triggers, claims, crashes, shares, ends, lists, loops, leases, traces, tracing} {
		for name, test := range group {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, kind)
			})
		}
	}
}

// Clock is a clock that only moves when Move is called.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock with a fixed start time.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)} }

// Now returns the current time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move advances the clock.
func (c *Clock) Move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// bench is one queue on an empty database with a clock.
type bench struct {
	*testing.T
	clock *Clock
	db    *database.DB
	*queue.Queue
}

func newBench(t *testing.T, kind databasetest.Kind) *bench {
	t.Helper()
	clock := NewClock()
	o := kind.New(t)
	o.Now = clock.Now
	db := databasetest.Open(t, o)
	q, err := queue.New(t.Context(), db, "here")
	if err != nil {
		t.Fatal(err)
	}
	return &bench{T: t, clock: clock, db: db, Queue: q}
}

const lease = 15 * time.Second

// trigger triggers work for the keys without a delay.
func (b *bench) trigger(keys ...string) {
	b.Helper()
	for _, key := range keys {
		b.triggerAll(queue.Trigger{Kind: "repository", Key: key})
	}
}

func (b *bench) triggerAll(triggers ...queue.Trigger) {
	b.Helper()
	if err := b.Trigger(b.Context(), triggers...); err != nil {
		b.Fatal(err)
	}
}

// claim begins runs and returns them by key.
func (b *bench) claim(limit int) map[string]queue.Item {
	b.Helper()
	return b.claimWith(claimOf(limit))
}

// claimOf returns the usual options.
func claimOf(limit int) queue.ClaimOptions {
	return queue.ClaimOptions{Kind: "repository", Limit: limit, Lease: lease, FirstCrash: time.Minute, LastCrash: time.Hour}
}

func (b *bench) claimWith(o queue.ClaimOptions) map[string]queue.Item {
	b.Helper()
	claimed, err := b.Claim(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	found := map[string]queue.Item{}
	for _, item := range claimed.Items {
		found[item.Key] = item
	}
	return found
}

// wait returns how long nothing is due.
func (b *bench) wait() time.Duration {
	b.Helper()
	claimed, err := b.Claim(b.Context(), claimOf(1))
	if err != nil || len(claimed.Items) > 0 {
		b.Fatalf("claimed %v, error %v", claimed.Items, err)
	}
	return claimed.Wait
}

// one claims the only run that is due.
func (b *bench) one() queue.Item {
	b.Helper()
	found := b.claim(100)
	if len(found) != 1 {
		b.Fatalf("claimed %v, want one", found)
	}
	for _, item := range found {
		return item
	}
	return queue.Item{}
}

// none fails if something is due.
func (b *bench) none() {
	b.Helper()
	if found := b.claim(100); len(found) > 0 {
		b.Fatalf("claimed %v, want nothing", found)
	}
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// entry returns the row of the key.
func (b *bench) entry(key string) queue.Entry {
	b.Helper()
	all, err := b.Entries(b.Context(), "repository", "", 100)
	b.must(err)
	for _, one := range all {
		if one.Key == key {
			return one
		}
	}
	b.Fatalf("there is no entry for %s", key)
	return queue.Entry{}
}
