package service

import (
	"context"
	"fmt"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/queue"
	"promoter/internal/store"
)

// turn has the repositories triggered whose turn it is.
func (b *bench) turn() time.Time {
	b.t.Helper()
	result, err := b.service.workers[kindTurn].Handler(b.t.Context(), queue.Item{Kind: kindTurn, Key: All})
	if err != nil {
		b.t.Fatal(err)
	}
	return result.Next
}

// work claims all triggered repositories, and ends their runs as the function returns.
func (b *bench) work(do func(queue.Item) queue.Result) (runs int) {
	b.t.Helper()
	for {
		claimed, err := b.service.queue.Claim(b.t.Context(), queue.ClaimOptions{Kind: KindRepository, Limit: 100, Lease: time.Hour})
		if err != nil {
			b.t.Fatal(err)
		}
		for _, item := range claimed.Items {
			if err := b.service.queue.Done(b.t.Context(), item, do(item)); err != nil {
				b.t.Fatal(err)
			}
		}
		if runs += len(claimed.Items); len(claimed.Items) == 0 {
			return runs
		}
	}
}

// Two thousand repositories are triggered once in each poll interval, at the same time of
// it, and about as many at each check. A check that is late, as after a pause of the
// process, triggers what it missed, once.
func TestTurns_spreadRepositoriesOverThePoll(t *testing.T) {
	t.Parallel()
	const repositories = 2000
	b := newBench(t)
	err := b.service.db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		for n := range repositories {
			one := store.Repository{Key: fmt.Sprint("github.com/", n), Forge: "forge", Host: "github.com", Name: fmt.Sprint("acme/", n)}
			if _, err := b.store.RecordReconciliation(ctx, tx, one, store.HistoryUpdate{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.turn() // the first one begins
	at := map[string]int{}
	for period := range 3 {
		runs := map[string]int{}
		for check := range turnChecks {
			b.clock.Add(b.connections.Server.File.Poll / turnChecks)
			if period == 2 && check == 5 {
				continue // it is late
			}
			next := b.turn()
			if wait := next.Sub(b.clock.Now()); wait != 15*time.Second {
				t.Fatalf("the next check is in %s", wait)
			}
			b.turn() // of another replica
			n := b.work(func(item queue.Item) queue.Result {
				runs[item.Key]++
				if period > 0 && period < 2 && at[item.Key] != check {
					t.Errorf("%s: check %d, and %d before", item.Key, check, at[item.Key])
				}
				at[item.Key] = check
				return queue.Result{}
			})
			if few, many := repositories/turnChecks/2, repositories/turnChecks*3/2; period < 2 && (n < few || n > many) {
				t.Errorf("period %d: %d repositories at check %d", period, n, check)
			}
		}
		if len(runs) != repositories {
			t.Errorf("period %d: %d repositories were triggered", period, len(runs))
		}
		for key, n := range runs {
			if n != 1 {
				t.Errorf("period %d: %s was triggered %d times", period, key, n)
			}
		}
	}
}

// Two repositories follow one image: it is read once in each poll interval, whatever else
// triggers them. When it changed, the other one is triggered at once.
func TestTurns_readASharedImageOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	reconcile := func(item queue.Item) queue.Result {
		result, err := b.reconcile(item.Key)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	b.poll() // at the start
	b.turn()
	if n := b.work(reconcile); n < 2 || b.registryLists.Load() != 1 {
		t.Fatalf("at the start: %d runs, %d lists", n, b.registryLists.Load())
	}
	poll, one, reconciledWithList := b.connections.Server.File.Poll, b.key("acme/one"), false
	// period lets a poll interval pass.
	period := func() (lists int64, runs int) {
		t.Helper()
		before := b.registryLists.Load()
		for range turnChecks {
			b.clock.Add(poll / turnChecks)
			b.poll()
			b.turn()
			if err := b.service.queue.Trigger(t.Context(), repositoryTriggers([]string{b.key("acme/two")})...); err != nil { // a push
				t.Fatal(err)
			}
			lists, withOne := b.registryLists.Load(), false
			runs += b.work(func(item queue.Item) queue.Result {
				withOne = withOne || item.Key == one
				return reconcile(item)
			})
			reconciledWithList = reconciledWithList || withOne && b.registryLists.Load() > lists
		}
		return b.registryLists.Load() - before, runs
	}
	for n := range 3 {
		lists, runs := period()
		if n == 0 {
			continue // it began within the interval of the image
		}
		if lists != 1 || runs < turnChecks || runs > turnChecks+2 {
			t.Errorf("period %d: %d lists, %d runs", n, lists, runs)
		}
	}
	b.registryTag.Store("0.1.0")
	reconciledWithList = false
	if lists, runs := period(); lists < 2 || lists > 3 || runs > turnChecks+4 || !reconciledWithList {
		t.Errorf("with a new tag: %d lists, %d runs, acme/one with one of them: %t", lists, runs, reconciledWithList)
	}
}
