package service

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"promoter/internal/fault"
	"promoter/internal/reconcile/outcome"
)

// firstRetry is the delay of the first retry after a partial failure. It doubles each
// time, up to the poll interval.
const firstRetry = 30 * time.Second

// maxDoublings bounds the exponent of a delay.
const maxDoublings = 20

// retryBackoff counts the consecutive partial failures of each repository. The queue
// counts complete failures, and delays triggers after them; a partial failure delays no
// trigger.
type retryBackoff struct {
	mutex sync.Mutex
	known map[string]partialFailure
}

// partialFailure is the last partial failure of a repository.
type partialFailure struct {
	times int       // failed retries in a row
	at    time.Time // when it was
	retry time.Time // when to retry
}

// next returns when to retry because of partial failures; zero: there are none. A
// reconciliation before the retry, because of a webhook, does not delay it.
func (b *retryBackoff) next(key string, report outcome.Report, now time.Time, poll time.Duration) time.Time {
	failed, limited := failures(report)
	if !failed && limited.IsZero() {
		b.forget(key)
		return time.Time{}
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	last := b.known[key]
	if failed && !last.retry.After(now) {
		wait := min(firstRetry<<min(last.times, maxDoublings), poll)
		last.times++
		last.retry = now.Add(wait - rand.N(wait/4+1))
	}
	if !failed {
		last.retry = limited.Add(rand.N(limitSlack)) // the end of a limit is known, so the delay does not grow
	}
	if b.known == nil {
		b.known = map[string]partialFailure{}
	}
	last.at = now
	b.known[key] = last
	return last.retry
}

// A merge that the forge defers is tried again after firstDeferral, which doubles up to
// maxDeferral. After maxDeferring, only events and polls try it.
const (
	firstDeferral = 2 * time.Second
	maxDeferral   = time.Minute
	maxDeferring  = 15 * time.Minute
)

// deferrals are the merges of each repository that the forge defers.
type deferrals struct {
	mutex sync.Mutex
	known map[string]map[string]deferral // by repository, by branch
}

// deferral is a merge that is tried again.
type deferral struct {
	since time.Time
	retry time.Time
	wait  time.Duration // before retry
}

// next returns when to try the deferred merges of a repository again; zero: there are none, or
// they are deferred too long. A reconciliation before the retry, because of a webhook, does not
// delay it.
func (d *deferrals) next(key string, report outcome.Report, now time.Time) (next time.Time) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	before, after := d.known[key], map[string]deferral{}
	for _, effect := range report.Effects {
		if !deferred(effect) {
			continue
		}
		one, known := before[effect.Head]
		if !known {
			one.since = now
		}
		if !one.retry.After(now) {
			one.wait = min(max(2*one.wait, firstDeferral), maxDeferral)
			one.retry = now.Add(one.wait)
		}
		if now.Sub(one.since) < maxDeferring {
			next = earlier(next, one.retry)
		}
		after[effect.Head] = one
	}
	if d.known == nil {
		d.known = map[string]map[string]deferral{}
	}
	d.known[key] = after
	if len(after) == 0 {
		delete(d.known, key)
	}
	return next
}

// deferred reports whether an effect is tried again soon, although nothing failed. What awaits nothing that is
// known must not wait for the next poll.
func deferred(effect outcome.Effect) bool {
	return effect.Err == nil && (effect.Deferred || effect.Awaits() == outcome.AwaitsNothing)
}

// limitSlack spreads what waits for the end of the same limit.
const limitSlack = 2 * time.Second

// retried returns the time of the last partial failure of a repository if it is retried
// now; zero: it is not.
func (b *retryBackoff) retried(key string, now time.Time) time.Time {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if last := b.known[key]; !last.retry.After(now) {
		return last.at
	}
	return time.Time{}
}

// forget resets the count of a repository.
func (b *retryBackoff) forget(key string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.known, key)
}

// failures reports whether a part failed, and the last end of the limits because of which
// parts failed. An error that a user must correct is retried too: it may be that of a
// proxy, for a moment.
func failures(report outcome.Report) (failed bool, limited time.Time) {
	var all []error
	for _, partial := range report.Errors {
		all = append(all, partial.Err)
	}
	for _, effect := range report.Effects {
		all = append(all, effect.Err)
	}
	for _, err := range all {
		if until, ok := fault.RetryAt(err); ok {
			limited = latest(limited, until)
		} else if err != nil {
			failed = true
		}
	}
	return failed, limited
}

// openRetry counts the consecutive polls in which repositories could not be opened.
type openRetry struct {
	mutex   sync.Mutex
	times   int
	failing int // repositories, the last time
}

// next returns when to poll again because of such repositories; zero: there are none.
// The delay begins with the given minimum and doubles each time, up to the poll
// interval. It begins again when more repositories fail.
func (r *openRetry) next(current *refresh, now time.Time, minimum, poll time.Duration) time.Time {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_, failing := current.nextAttempt(now)
	if failing > r.failing {
		r.times = 0
	}
	wait := min(minimum<<min(r.times, maxDoublings), poll)
	next, _ := current.nextAttempt(now.Add(wait + rand.N(wait/4+1)))
	r.times, r.failing = r.times+1, failing
	return next
}

// earlier returns the earlier of two times; a zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// latest returns the latest of some times.
func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, time.Time.Compare)
}
