package outbound

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"promoter/internal/budget"
	"promoter/internal/fault"
)

// maxHosts bounds the hosts that are remembered, because config files name them.
const maxHosts = 1024

// hosts holds the state of each host.
type hosts struct {
	limit   func(host string) RateLimit
	maxWait time.Duration
	now     func() time.Time

	mu   sync.Mutex
	open map[string]*host
}

func newHosts(limit func(host string) RateLimit, maxWait time.Duration, now func() time.Time) *hosts {
	return &hosts{limit: limit, maxWait: maxWait, now: now, open: map[string]*host{}}
}

// of returns the state of a host (host or host:port). If there are too many, it drops
// those without requests or limits in effect.
func (h *hosts) of(name string) *host {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known, ok := h.open[name]; ok {
		return known
	}
	if len(h.open) >= maxHosts {
		now := h.now()
		for name, known := range h.open {
			if known.quiet(now) {
				delete(h.open, name)
			}
		}
	}
	limit := h.limit(name)
	made := &host{
		name: name, maxWait: h.maxWait, now: h.now,
		slots: make(chan struct{}, limit.withDefaults().Concurrent),
		pace:  newPace(limit),
	}
	h.open[name] = made
	return made
}

// host is the state of one host.
type host struct {
	name    string
	maxWait time.Duration
	now     func() time.Time
	slots   chan struct{}

	mu       sync.Mutex
	pace     pace
	backoff  time.Time // until then the host gets no request
	reason   string    // of the backoff
	refusals int       // in a row, see refuse
	failures int       // in a row, see fail
}

// enter takes a slot at the host; leave releases it.
func (h *host) enter(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fault.Wrap(kindOfFailure(ctx.Err()), ctx.Err())
	}
}

func (h *host) leave() { <-h.slots }

func (h *host) quiet(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.slots) == 0 && h.pace.next.Before(now) && h.backoff.Before(now)
}

// wait waits until the host may get one more request. A wait that is too long, or longer
// than the context, is an error at once.
func (h *host) wait(ctx context.Context) error {
	for {
		wait, reserved := h.reserve(h.now())
		if wait <= 0 && reserved {
			return nil
		}
		deadline, bounded := ctx.Deadline()
		if wait > h.maxWait || bounded && wait >= deadline.Sub(h.now()) {
			return h.limited(h.now().Add(wait))
		}
		resume := budget.Wait(ctx)
		err := Sleep(ctx, wait)
		resume()
		if err != nil {
			return fault.Wrap(kindOfFailure(err), err)
		}
		if reserved && !h.resting(h.now()) {
			return nil
		}
	}
}

// resting reports whether the host is in a backoff, which may have begun during a wait.
func (h *host) resting(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.backoff.After(now)
}

// reserve reserves the next request, unless the host is in a backoff, and returns how long
// to wait for it. One that is too far ahead is not reserved.
func (h *host) reserve(now time.Time) (wait time.Duration, reserved bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.backoff.After(now) {
		return h.backoff.Sub(now), false
	}
	return h.pace.reserve(now, h.maxWait)
}

// reached records whether a request reached the host at an address in a network of the
// operator, or on this machine.
func (h *host) reached(now time.Time, near bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pace.setNear(now, near)
}

// responded records how long the host took until a response began.
func (h *host) responded(took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pace.responded(took)
}

// Bounds of a backoff.
const (
	firstPause    = time.Second      // after a refusal without a time; doubles with each further one
	longestPause  = 5 * time.Minute  // without a time
	maxRetryAfter = time.Hour        // of a Retry-After: a server's mistake must end
	mayFail       = 3                // failed requests in a row before a backoff
	firstRest     = 30 * time.Second // after those, up to a half less; doubles with each further failure
)

// refuse slows the requests to the host down, and starts a backoff for the time that the
// server named, or for one that doubles with each refusal in a row. It returns its end. An earlier end than the known one
// changes nothing. A refusal during a backoff is of a request that was sent before: it
// counts as the same refusal.
func (h *host) refuse(now time.Time, asked time.Duration, named bool) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.backoff.After(now) {
		h.refusals++
	}
	pause := min(firstPause<<min(max(h.refusals-1, 0), 10), longestPause)
	if named {
		pause = min(asked, maxRetryAfter)
	}
	if until := now.Add(pause); until.After(h.backoff) {
		h.backoff, h.reason = until, "rate limited"
	}
	h.pace.slow(now, h.backoff)
	return h.backoff
}

// fail counts a request that failed with all its retries. Several in a row start a
// backoff that grows: each request would wait for the same failure, and many clients
// that return at once keep a host down. A failure during a backoff is of a request that
// was sent before.
func (h *host) fail(now time.Time, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.backoff.After(now) {
		return
	}
	if h.failures++; h.failures < mayFail {
		return
	}
	rest := jittered(min(firstRest<<min(h.failures-mayFail, 10), longestPause))
	h.backoff = now.Add(rest)
	h.reason = fmt.Sprintf("the last %d requests failed: %s", h.failures, reason)
}

// succeed resets refusals and failures.
func (h *host) succeed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refusals, h.failures = 0, 0
}

// failure describes a result that counts as a failure; empty: it does not.
func failure(resp *http.Response, err error) string {
	switch {
	case !worthRetrying(resp, err):
		return ""
	case err != nil:
		return "no response" // the error may contain a URL
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
}

func (h *host) limited(until time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	limit := &limitError{host: h.name, until: until}
	if h.failures >= mayFail {
		limit.reason = h.reason
	}
	return fault.Limited(until, limit)
}

// limitError is a host that gets no request until a time.
type limitError struct {
	host   string
	until  time.Time
	reason string // empty: the host asked for it
}

// Error names the host and the time.
func (l *limitError) Error() string {
	until := l.until.UTC().Format(time.RFC3339)
	if l.reason != "" {
		return "host " + l.host + " gets no requests until " + until + ": " + l.reason
	}
	return "host " + l.host + " limits requests until " + until
}

// Backoff is a time in which a host gets no request.
type Backoff struct {
	Host   string // host or host:port
	Until  time.Time
	Reason string // without a credential
}

// Backoffs lists the current ones, by host.
func (c *Client) Backoffs() []Backoff {
	now := c.options.Now()
	var all []Backoff
	c.hosts.mu.Lock()
	for _, h := range c.hosts.open {
		h.mu.Lock()
		if h.backoff.After(now) {
			all = append(all, Backoff{Host: h.name, Until: h.backoff, Reason: h.reason})
		}
		h.mu.Unlock()
	}
	c.hosts.mu.Unlock()
	slices.SortFunc(all, func(a, b Backoff) int { return cmp.Compare(a.Host, b.Host) })
	return all
}

// Sleep waits for some time, or until the context ends.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
