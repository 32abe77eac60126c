package outbound

import (
	"context"
	"sync"
	"time"

	"promoter/internal/fault"
)

// Budget is what one host is asked at most. A host that is at its limit, or
// asked for a pause, holds back the requests to it and to no other.
type Budget struct {
	PerSecond  float64 // requests a second in the long run; zero: 50
	Burst      int     // requests at once after a quiet time; zero: 100
	Concurrent int     // requests under way, bodies included; zero: 8
}

func (b Budget) withDefaults() Budget {
	if b.PerSecond <= 0 {
		b.PerSecond = 50
	}
	if b.Burst <= 0 {
		b.Burst = 100
	}
	if b.Concurrent <= 0 {
		b.Concurrent = 8
	}
	return b
}

// maxHosts is how many hosts are remembered; config files name the hosts, so
// the number must not be theirs to choose.
const maxHosts = 1024

// hosts keeps the state of each host.
type hosts struct {
	budget  func(host string) Budget
	maxWait time.Duration
	now     func() time.Time

	mu   sync.Mutex
	open map[string]*host
}

func newHosts(budget func(host string) Budget, maxWait time.Duration, now func() time.Time) *hosts {
	return &hosts{budget: budget, maxWait: maxWait, now: now, open: map[string]*host{}}
}

// of returns the state of a host (host or host:port).
func (h *hosts) of(name string) *host {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known, ok := h.open[name]; ok {
		return known
	}
	if len(h.open) >= maxHosts {
		h.forgetQuiet()
	}
	budget := h.budget(name).withDefaults()
	made := &host{
		name: name, maxWait: h.maxWait, now: h.now,
		places:   make(chan struct{}, budget.Concurrent),
		interval: time.Duration(float64(time.Second) / budget.PerSecond),
		burst:    budget.Burst,
	}
	h.open[name] = made
	return made
}

// forgetQuiet drops hosts with nothing under way and nothing to remember.
func (h *hosts) forgetQuiet() {
	now := h.now()
	for name, known := range h.open {
		if known.quiet(now) {
			delete(h.open, name)
		}
	}
}

// host is the state of one host.
type host struct {
	name     string
	maxWait  time.Duration
	now      func() time.Time
	places   chan struct{}
	interval time.Duration // between two requests in the long run
	burst    int

	mu      sync.Mutex
	next    time.Time // when the next request is due at the long-run rate
	blocked time.Time // until then the server wants no request
	why     string    // it is blocked
	strikes int       // refusals in a row
	// failures counts requests in a row that failed, see fail.
	failures int
}

// enter takes a place at the host. leave gives it back.
func (h *host) enter(ctx context.Context) error {
	select {
	case h.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fault.Wrap(kindOfFailure(ctx.Err()), ctx.Err())
	}
}

func (h *host) leave() { <-h.places }

// turn waits until the host may be sent one more request.
func (h *host) turn(ctx context.Context) error {
	for {
		wait, taken := h.reserve(h.now())
		if wait <= 0 && taken {
			return nil
		}
		if wait > h.maxWait || !h.inTime(ctx, wait) {
			return h.limited(h.now().Add(wait))
		}
		if err := sleep(ctx, wait); err != nil {
			return fault.Wrap(kindOfFailure(err), err)
		}
		if taken {
			return nil
		}
	}
}

// reserve takes the next turn, and says how long to wait for it. A turn that
// is too far away is not taken.
func (h *host) reserve(now time.Time) (wait time.Duration, taken bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.blocked.After(now) {
		return h.blocked.Sub(now), false
	}
	// GCRA: next is the theoretical arrival time of the next request.
	next := h.next
	if next.Before(now) {
		next = now
	}
	wait = next.Sub(now) - time.Duration(h.burst-1)*h.interval
	if wait > h.maxWait {
		return wait, false
	}
	h.next = next.Add(h.interval)
	return max(wait, 0), true
}

// refuse keeps requests away for the time that the server named, or for one that
// doubles with each refusal in a row, and returns its end. An earlier end than one
// already known changes nothing. A refusal in a pause is of a request that was
// under way before it: it is the same refusal.
func (h *host) refuse(now time.Time, asked time.Duration, named bool) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.blocked.After(now) {
		h.strikes++
	}
	pause := min(firstPause<<min(max(h.strikes-1, 0), 10), longestPause)
	if named {
		pause = min(asked, longestAsked)
	}
	if until := now.Add(pause); until.After(h.blocked) {
		h.blocked, h.why = until, "it asks for fewer requests"
	}
	return h.blocked
}

func (h *host) forgive() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.strikes, h.failures = 0, 0
}

func (h *host) quiet(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.places) == 0 && h.next.Before(now) && h.blocked.Before(now)
}

func (h *host) limited(until time.Time) error {
	return fault.Limited(until, &limitError{host: h.name, until: until, rest: h.resting()})
}

// resting says why a host that failed is left alone; empty: it did not fail.
func (h *host) resting() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failures < mayFail {
		return ""
	}
	return h.why
}

// limitError says which host is left alone, until when, and why.
type limitError struct {
	host  string
	until time.Time
	rest  string // empty: it wants that
}

// Error names the host and the time.
func (l *limitError) Error() string {
	if l.rest != "" {
		return "host " + l.host + " is left alone until " + l.until.UTC().Format(time.RFC3339) + ": " + l.rest
	}
	return "host " + l.host + " limits requests until " + l.until.UTC().Format(time.RFC3339)
}

// inTime says that the context lives longer than the wait.
func (h *host) inTime(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || wait < deadline.Sub(h.now())
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
