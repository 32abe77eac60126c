package app

import (
	"math/rand/v2"
	"sync"
	"time"

	"promoter/internal/fault"
)

// reopens count the polls in a row that could not open a repository for a reason that
// may pass.
type reopens struct {
	mutex sync.Mutex
	times int
}

// after says when all is polled again because of such repositories; zero: not sooner
// than ever. The wait begins with the least that is between two rounds, and doubles each
// time, up to the poll. A credential that may not, and a repository that is not there,
// are a person's to change.
func (r *reopens) after(in *round, now time.Time, soonest, poll time.Duration) time.Time {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	wait := min(soonest<<min(r.times, 20), poll)
	next := in.passes(now.Add(wait + rand.N(wait/4+1)))
	if r.times++; next.IsZero() {
		r.times = 0
	}
	return next
}

// passes is when something that could not be opened is worth a new round, which comes
// at a time or, where the forge named a later one, then; zero: nothing is.
func (r *round) passes(at time.Time) (next time.Time) {
	for _, one := range r.session.Repositories {
		if one.SCM != nil {
			continue
		}
		switch fault.KindOf(one.Err) {
		case fault.Temporary:
			next = earlier(next, at)
		case fault.RateLimited:
			until, _ := fault.RetryAt(one.Err)
			next = earlier(next, latest(until, at))
		}
	}
	return next
}
