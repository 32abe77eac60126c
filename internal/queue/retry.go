package queue

import (
	"time"

	"promoter/internal/fault"
)

// failure says when to try again after an error. What only a person can put right is
// tried seldom, but a hint may bring it forward as far as the usual wait; of what
// went wrong by itself, hints bring nothing forward.
func (o Options) failure(attempt int, err error) Failure {
	wait := o.backoff(attempt)
	f := Failure{Reason: err.Error(), Delay: wait, MinDelay: wait}
	if at, ok := fault.RetryAt(err); ok {
		f.RetryAt, f.NotBefore = at, at
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.NotFound, fault.Unauthorized:
		f.Delay = max(wait, o.spread(o.LastRetry))
	}
	return f
}

// backoff doubles with each attempt.
func (o Options) backoff(attempt int) time.Duration {
	wait := o.FirstRetry
	for range attempt - 1 {
		if wait *= 2; wait >= o.LastRetry {
			wait = o.LastRetry
			break
		}
	}
	return o.spread(wait)
}

// spread takes up to a half of a wait away, so that many that failed together do
// not come back together.
func (o Options) spread(wait time.Duration) time.Duration {
	return wait - time.Duration(o.Random()*float64(wait)/2)
}
