package queuetest

import (
	"time"

	"promoter/internal/queue"
)

// row is the model of a row: what the queue promises about one key, in plain words.
type row struct {
	unread int // hints that no run has read
	read   int // hints that a run read which did not do well, or is under way

	scheduled bool      // it is due although nobody hinted
	first     time.Time // hint of those that count for the quiet time
	latest    time.Time // hints put it off until then at most
	at        time.Time // when it is due
	hold      time.Time // no hint brings it forward before that
	attempts  int

	owned bool
	lease time.Time

	fresh []string // traces of the unread hints, the oldest first
	seen  []string // and of the read ones
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// hint is one hint, or many of one transaction that are as urgent as the first.
func (r *row) hint(now time.Time, h queue.Trigger, count int, traces []string) {
	quiet, within := now.Add(h.Debounce), now.Add(max(h.Debounce, h.MaxDebounce))
	// The wait begins anew for a row at rest, one that a schedule alone keeps, and one
	// whose hints are all in a run.
	if r.first.IsZero() || r.owned && r.unread == 0 {
		r.first, r.latest = now, within
	} else {
		r.latest = earlier(r.latest, within)
	}
	r.at = later(r.hold, earlier(quiet, r.latest))
	r.unread += count
	r.fresh = newest(append(r.fresh, traces...))
}

// newest are the last 20.
func newest(traces []string) []string { return traces[max(0, len(traces)-20):] }

func (r *row) due(now time.Time) bool {
	if r.unread+r.read == 0 && !r.scheduled || r.at.After(now) {
		return false
	}
	over := r.lease
	if r.attempts >= 3 {
		over = over.Add(time.Minute)
	}
	return !r.owned || !over.After(now)
}

func (r *row) claim(now time.Time, length time.Duration) {
	r.read, r.unread = r.read+r.unread, 0
	r.seen, r.fresh = newest(append(r.seen, r.fresh...)), nil
	r.owned, r.lease = true, now.Add(length)
	r.attempts++
}

// free ends the lease at once.
func (r *row) free(now time.Time) {
	if r.owned {
		r.lease = earlier(r.lease, now)
	}
}

// done returns whether nothing is left.
func (r *row) done(next time.Time) bool {
	r.owned, r.attempts, r.hold, r.read, r.scheduled, r.seen = false, 0, time.Time{}, 0, false, nil
	if r.unread > 0 {
		return false
	}
	r.first = time.Time{}
	if !next.IsZero() {
		r.scheduled, r.at = true, next
	}
	return true
}

func (r *row) fail(now time.Time, f queue.Failure) {
	r.owned = false
	r.hold = later(now.Add(f.MinDelay), f.NotBefore)
	again := later(now.Add(f.Delay), f.RetryAt)
	if r.unread > 0 {
		again = later(r.hold, earlier(r.at, again))
	}
	r.at = again
}

func (r *row) release(now time.Time, after time.Duration) {
	r.owned = false
	r.attempts--
	r.at = later(r.at, now.Add(after))
}
