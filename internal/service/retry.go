package service

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"promoter/internal/engine"
	"promoter/internal/fault"
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
	times map[string]int
}

// next returns when to retry because of partial failures; zero: there are none, or a
// retry would not help.
func (b *retryBackoff) next(key string, report engine.Report, now time.Time, poll time.Duration) time.Time {
	retry, notBefore := retryable(report)
	if !retry {
		b.forget(key)
		return time.Time{}
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.times == nil {
		b.times = map[string]int{}
	}
	wait := min(firstRetry<<min(b.times[key], maxDoublings), poll)
	b.times[key]++
	return latest(now.Add(wait-rand.N(wait/4+1)), notBefore)
}

// forget resets the count of a repository.
func (b *retryBackoff) forget(key string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.times, key)
}

// retryable reports whether a part failed in a way that a retry may fix, and the time
// before which it will not.
func retryable(report engine.Report) (retry bool, notBefore time.Time) {
	var all []error
	for _, partial := range report.Errors {
		all = append(all, partial.Err)
	}
	for _, effect := range report.Effects {
		all = append(all, effect.Err)
	}
	for _, err := range all {
		switch fault.KindOf(err) {
		case fault.Temporary, fault.RateLimited, fault.Conflict:
			retry = true
			until, _ := fault.RetryAt(err)
			notBefore = latest(notBefore, until)
		}
	}
	return retry, notBefore
}

// openRetry counts the consecutive polls in which a repository could not be opened for a
// reason that a retry may fix.
type openRetry struct {
	mutex sync.Mutex
	times int
}

// next returns when to poll again because of such repositories; zero: there are none.
// The delay begins with the given minimum and doubles each time, up to the poll
// interval.
func (r *openRetry) next(current *refresh, now time.Time, minimum, poll time.Duration) time.Time {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	wait := min(minimum<<min(r.times, maxDoublings), poll)
	next := current.nextAttempt(now.Add(wait + rand.N(wait/4+1)))
	if r.times++; next.IsZero() {
		r.times = 0
	}
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
