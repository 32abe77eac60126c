package queuetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// restart replaces the queue with that of a new process; the old one does not return.
func (b *bench) restart() {
	b.Helper()
	if b.clock != nil {
		b.clock.Move(lease) // of replicas
	}
	q, err := queue.New(b.Context(), b.db, "here")
	b.must(err)
	b.Queue = q
}

// suspects claims a suspect.
func (b *bench) suspects() map[string]queue.Item {
	b.Helper()
	o := claimOf(1)
	o.Suspects = true
	return b.claimWith(o)
}

// expireAll lets all leases expire.
func expireAll(ctx context.Context, tx *database.Tx) error {
	_, err := tx.Exec(ctx, "update work set lease_until = 1 where owner <> ''")
	return err
}

// endDelay makes the suspect due.
func endDelay(ctx context.Context, tx *database.Tx) error {
	_, err := tx.Exec(ctx, "update work set not_before = 1, retry_after = 0 where key = 'suspect'")
	return err
}

var crashes = map[string]func(*testing.T, databasetest.Kind){
	"only what was running is retried later, and by itself": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("poisoned")
		b.one()
		b.trigger("other")
		b.restart()
		other := b.one()
		if other.Key != "other" {
			t.Errorf("claimed %v", other)
		}
		b.must(b.Done(t.Context(), other, queue.Result{}))
		entry := b.entry("poisoned")
		if entry.Crashes != 1 || !entry.NotBefore.Equal(b.clock.Now().Add(time.Minute)) || entry.FailedAt.IsZero() {
			t.Errorf("entry %+v", entry)
		}
		b.trigger("poisoned") // does not run it earlier
		b.clock.Move(time.Minute - time.Microsecond)
		if found := b.suspects(); len(found) > 0 {
			t.Errorf("claimed %v", found)
		}
		b.clock.Move(time.Microsecond)
		b.none()
		if found := b.suspects(); len(found) != 1 {
			t.Errorf("claimed %v", found)
		}
	},
	"its delay doubles, and success resets it": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		b.one()
		for i := range 9 {
			b.restart()
			b.none()
			entry := b.entry("a")
			if want := min(time.Minute<<i, time.Hour); entry.Crashes != i+1 || entry.NotBefore.Sub(b.clock.Now()) != want {
				t.Errorf("after %d crashes: %+v, want %v", i+1, entry, want)
			}
			b.clock.Move(time.Hour)
			if found := b.suspects(); len(found) != 1 {
				t.Fatalf("claimed %v", found)
			}
		}
		b.restart()
		b.none()
		b.clock.Move(time.Hour)
		b.must(b.Done(t.Context(), b.suspects()["a"], queue.Result{}))
		b.trigger("a")
		b.must(b.Done(t.Context(), b.one(), queue.Result{}))
		if entry := b.entry("a"); entry.Crashes != 0 || !entry.FailedAt.IsZero() {
			t.Errorf("entry %+v", entry)
		}
	},
	"what died together is retried at once, each by itself": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.triggerAll(queue.Trigger{Kind: "repository", Key: "a"}, queue.Trigger{Kind: "repository", Key: "b"})
		b.triggerAll(queue.Trigger{Kind: "other", Key: "c"})
		b.claim(2)
		b.restart()
		b.none()
		first := b.suspects()
		if len(first) != 1 {
			t.Fatalf("claimed %v", first)
		}
		for key, item := range first {
			if entry := b.entry(key); entry.Crashes != 1 {
				t.Errorf("entry %+v", entry)
			}
			b.must(b.Done(t.Context(), item, queue.Result{}))
		}
		second := b.suspects() // and dies by itself
		if len(second) != 1 {
			t.Fatalf("claimed %v", second)
		}
		b.restart()
		b.none()
		for key := range second {
			if entry := b.entry(key); entry.Crashes != 2 || entry.NotBefore.Sub(b.clock.Now()) != 2*time.Minute {
				t.Errorf("entry %+v", entry)
			}
		}
	},
	"what died beside a run of another kind died together": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		other := claimOf(1)
		other.Kind = "other"
		b.trigger("a")
		b.triggerAll(queue.Trigger{Kind: "other", Key: "b"})
		b.one()
		b.claimWith(other)
		b.restart()
		for _, of := range []queue.ClaimOptions{claimOf(1), other} {
			of.Suspects = true
			if found := b.claimWith(of); len(found) != 1 {
				t.Errorf("of %s: claimed %v", of.Kind, found)
			}
		}
	},
	"a suspect that dies beside others is not innocent": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		b.one()
		b.restart()
		b.none()
		b.clock.Move(time.Minute)
		b.suspects()
		b.trigger("b")
		b.one()
		b.restart()
		b.none()
		if a, other := b.entry("a"), b.entry("b"); a.NotBefore.Sub(b.clock.Now()) != 2*time.Minute || other.NotBefore.After(b.clock.Now()) {
			t.Errorf("entries %+v, %+v", a, other)
		}
	},
	"urgent triggers shorten the delay to the first one, others do not": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		b.one()
		for range 5 {
			b.restart()
			b.none()
			b.clock.Move(time.Hour)
			b.suspects()
		}
		b.restart()
		b.none()
		b.trigger("a")
		died := b.clock.Now()
		if entry := b.entry("a"); entry.NotBefore.Sub(died) != 32*time.Minute {
			t.Errorf("a poll: %+v", entry)
		}
		b.clock.Move(time.Second)
		b.triggerAll(queue.Trigger{Kind: "repository", Key: "a", Urgent: true})
		if entry := b.entry("a"); entry.NotBefore.Sub(died) != time.Minute {
			t.Errorf("a webhook: %+v", entry)
		}
	},
	"a run that was released is no suspect": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		b.must(b.Release(t.Context(), b.one(), 0))
		b.restart()
		b.one()
	},
	"a failure keeps the suspicion": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.trigger("a")
		b.one()
		b.restart()
		b.none()
		b.clock.Move(time.Minute)
		b.must(b.Fail(t.Context(), b.suspects()["a"], queue.Failure{Reason: "the forge is down", Delay: time.Second}))
		b.clock.Move(time.Second)
		b.none()
		if entry := b.entry("a"); entry.Crashes != 1 || entry.LastError != "the forge is down" {
			t.Errorf("entry %+v", entry)
		}
	},
	"a suspect runs alone, and other work continues": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		p.trigger("suspect")
		o := claimOf(1)
		o.Lease = time.Millisecond
		p.claimWith(o)
		<-time.After(2 * time.Millisecond)
		after := newProcess(t, p.db)
		type event struct {
			key   string
			begin bool
		}
		events := make(chan event, 1000)
		timing := short()
		timing.FirstCrash = time.Hour // until other work ran
		after.run(4, timing, func(_ context.Context, item queue.Item) (queue.Result, error) {
			events <- event{item.Key, true}
			<-time.After(20 * time.Millisecond)
			events <- event{item.Key, false}
			return queue.Result{}, nil
		})
		running, others := map[string]bool{}, 0
		for i := 0; ; i++ {
			if i < 100 {
				after.trigger(fmt.Sprint(i))
			}
			e := until(after, "the suspect", events)
			if running[e.key] = e.begin; !e.begin {
				delete(running, e.key)
			}
			if running["suspect"] && len(running) > 1 {
				t.Fatalf("it runs beside %v", running)
			}
			if e.key == "suspect" && !e.begin {
				break
			}
			if others++; others == 10 {
				p.must(p.db.Update(t.Context(), endDelay))
			}
		}
	},
	"a process that only lost its lease is no crash": func(t *testing.T, kind databasetest.Kind) {
		p, other := pair(t, kind)
		if p.db.SingleProcess() {
			return
		}
		began, end := make(chan string, 10), make(chan bool)
		timing := short()
		timing.Lease = time.Hour // so that it does not notice
		p.run(1, timing, func(ctx context.Context, item queue.Item) (queue.Result, error) {
			if item.Attempt > 1 {
				return queue.Result{}, nil
			}
			say(began, item.Key)
			<-ctx.Done()
			<-end
			return queue.Result{}, ctx.Err()
		})
		p.trigger("a")
		until(p, "the run", began)
		p.must(p.db.Update(t.Context(), expireAll))
		if claimed := other.claim(1); len(claimed) > 0 || other.entry("a").Crashes != 1 {
			t.Errorf("claimed %v, entry %+v", claimed, other.entry("a"))
		}
		close(end)
		p.comes("a", func(e queue.Entry) bool { return e.Crashes == 0 })
	},
}
