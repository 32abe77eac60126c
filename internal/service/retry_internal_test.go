package service

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"promoter/internal/reconcile/outcome"
)

// A registry is down when the webhook comes. The repository is reconciled again soon, and
// less soon each time, and other repositories do not wait for the registry one by one.
func TestReconcile_retriesPartialFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, two := b.key("acme/one"), b.key("acme/two")
	for _, key := range []string{one, two} {
		if _, err := b.reconcile(key); err != nil {
			t.Fatal(err)
		}
	}
	b.registryDown.Store(true)
	b.clock.Add(6 * time.Minute)
	b.poll()
	retried := func(key string, least, most time.Duration) {
		t.Helper()
		result, err := b.reconcile(key)
		if wait := result.Next.Sub(b.clock.Now()); err != nil || wait < least || wait > most {
			t.Errorf("retried in %v, want %v to %v: %v", wait, least, most, err)
		}
	}
	retried(one, 20*time.Second, 30*time.Second)
	requests := b.registryRequests.Load()
	retried(two, 20*time.Second, 30*time.Second)
	retried(one, 20*time.Second, 30*time.Second) // a webhook delays nothing
	if more := b.registryRequests.Load() - requests; requests == 0 || more > 0 {
		t.Errorf("a registry that is down got %d requests, and then %d", requests, more)
	}
	b.clock.Add(31 * time.Second)
	retried(one, 45*time.Second, time.Minute)
	if b.registryRequests.Load() == requests {
		t.Error("a registry that was down gets no further requests")
	}
	b.registryDown.Store(false)
	b.clock.Add(31 * time.Second)
	for _, key := range []string{one, two} {
		if result, err := b.reconcile(key); err != nil || !result.Next.IsZero() {
			t.Errorf("after the registry came back: %v, %v", result.Next, err)
		}
	}
	b.registryDown.Store(true)
	b.clock.Add(6 * time.Minute)
	b.poll()
	retried(one, 20*time.Second, 30*time.Second)
}

// failForge lets the forge fail for both repositories: each is requested three times.
func (b *bench) failForge() {
	for range 6 {
		b.github.Fail("GET /repos/{owner}/{repo}", http.StatusServiceUnavailable, "down")
	}
}

// expect checks when the next poll is due.
func (b *bench) expect(next time.Time, least, most time.Duration) {
	b.t.Helper()
	if wait := next.Sub(b.clock.Now()); wait < least || wait > most {
		b.t.Errorf("the next poll is in %v, want %v to %v", wait, least, most)
	}
}

// A forge is down for a moment when the service starts. That costs its repositories a
// minute, not a whole poll; a longer outage costs the forge less and less.
func TestPoll_retriesWhatCouldNotBeOpened(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, wait := range []time.Duration{30 * time.Second, time.Minute} {
		b.failForge()
		b.expect(b.poll(), wait, wait*5/4)
		if opened := len(b.current().repositories); opened > 0 {
			t.Fatalf("%d repositories were opened", opened)
		}
		b.clock.Add(wait * 5 / 4)
	}
	b.poll()
	b.key("acme/one")
	b.key("acme/two")
	b.clock.Add(6 * time.Minute)
	b.expect(b.poll(), 4*time.Minute, 6*time.Minute)
	b.clock.Add(6 * time.Minute)
	b.failForge()
	b.expect(b.poll(), 30*time.Second, 38*time.Second) // the backoff starts again
}

// A forge that limits its rate until a time is polled at that time.
func TestPoll_waitsForTheRateLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.github.Limit(false, b.clock.Now().Add(3*time.Minute))
	b.expect(b.poll(), 3*time.Minute, 3*time.Minute+time.Second)
}

// A token that is refused may be accepted a moment later. One that stays so costs the forge
// less and less. A repository that does not exist is not retried.
func TestPoll_retriesARefusedToken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.github.Revoke(b.currentToken())
	b.expect(b.poll(), 30*time.Second, 38*time.Second)
	b.clock.Add(38 * time.Second)
	b.expect(b.poll(), time.Minute, 75*time.Second)
	b.two.Settings.Remove()
	b.replaceToken()
	b.clock.Add(6 * time.Minute)
	b.expect(b.poll(), 4*time.Minute, 6*time.Minute)
}

// A reconciliation that refreshed a moment ago does not delay a poll that is due; events
// about repositories that come and go do not bring it forward.
func TestPoll_isNotDelayedByARecentRefresh(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.poll()
	b.clock.Add(7 * time.Minute)
	b.current() // a reconciliation refreshes
	b.expect(b.poll(), 4*time.Minute, 6*time.Minute)
	b.clock.Add(10 * time.Second)
	b.expect(b.poll(), 20*time.Second, 20*time.Second)
}

// A merge that the forge defers is tried after 2 seconds, then after twice as long each time, at most a minute, for
// 15 minutes. A webhook in between neither delays it nor counts. One that is deferred too long does not hide another one.
func TestDeferrals(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	report := func(heads ...string) (r outcome.Report) {
		for _, head := range heads {
			effect := outcome.Effect{Action: outcome.ActionNone, Deferred: true}
			effect.Head = head
			r.Effects = append(r.Effects, effect)
		}
		return r
	}
	var d deferrals
	begin := now
	for _, want := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
		next := d.next("one", report("a"), now)
		if got := next.Sub(now); got != want*time.Second {
			t.Errorf("after %v: in %v, want %d s", now.Sub(begin), got, want)
		}
		if earlier := d.next("one", report("a"), now.Add(time.Second)); !earlier.Equal(next) {
			t.Errorf("a webhook moves it from %v to %v", next, earlier)
		}
		now = next
	}
	now = begin.Add(15 * time.Minute)
	if next := d.next("one", report("a"), now); !next.IsZero() {
		t.Errorf("after 15 minutes: %v", next)
	}
	if next := d.next("one", report("a", "b"), now); next.Sub(now) != 2*time.Second {
		t.Errorf("another one: %v", next)
	}
	if next := d.next("two", report("a"), now); next.Sub(now) != 2*time.Second {
		t.Errorf("another repository: %v", next)
	}
	if next := d.next("one", report(), now); !next.IsZero() {
		t.Errorf("without: %v", next)
	}
	if next := d.next("one", report("a"), now); next.Sub(now) != 2*time.Second {
		t.Errorf("it begins again: %v", next)
	}
	done, failed := report("a"), report("a")
	done.Effects[0].Action, failed.Effects[0].Err = outcome.ActionMerged, errors.New("down")
	done.Effects[0].Deferred = false
	for _, other := range []outcome.Report{done, failed} {
		if next := d.next("three", other, now); !next.IsZero() {
			t.Errorf("%+v: %v", other.Effects, next)
		}
	}
	updated := report("a") // its status changed, such as because a check passed just before the merge
	updated.Effects[0].Action = outcome.ActionUpdated
	if next := d.next("four", updated, now); next.Sub(now) != 2*time.Second {
		t.Errorf("with another status: %v", next)
	}
}
