package app

import (
	"math/rand/v2"
	"sync"
	"time"

	"promoter/internal/engine"
	"promoter/internal/fault"
)

// firstAgain is how long after a look the next one comes when a part of it failed by
// something that may pass by itself. It doubles each time, up to the poll.
const firstAgain = 30 * time.Second

// troubles count the looks in a row at each repository of which a part failed. What
// fails as a whole is counted by the queue, and holds hints back; a part holds nothing
// back.
type troubles struct {
	mutex sync.Mutex
	times map[string]int
}

// after says when a repository is to be looked at again because of what failed; zero:
// nothing did that another look could do better.
func (t *troubles) after(key string, report engine.Report, now time.Time, poll time.Duration) time.Time {
	passing, at := passingOf(report)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !passing {
		delete(t.times, key)
		return time.Time{}
	}
	if t.times == nil {
		t.times = map[string]int{}
	}
	wait := min(firstAgain<<min(t.times[key], 20), poll)
	t.times[key]++
	next := now.Add(wait - rand.N(wait/4+1))
	if at.After(next) {
		return at
	}
	return next
}

// passingOf says whether something failed that may pass by itself, and until when it
// will not.
func passingOf(report engine.Report) (passing bool, at time.Time) {
	var all []error
	for _, trouble := range report.Errors {
		all = append(all, trouble.Err)
	}
	for _, done := range report.Effects {
		all = append(all, done.Err)
	}
	for _, err := range all {
		switch fault.KindOf(err) {
		case fault.Temporary, fault.RateLimited, fault.Conflict:
			passing = true
			if until, ok := fault.RetryAt(err); ok && until.After(at) {
				at = until
			}
		}
	}
	return passing, at
}

// earlier returns the earlier of two times; a zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
