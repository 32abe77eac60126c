package outbound

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Pause is a time in which a host is sent nothing.
type Pause struct {
	Host  string // host or host:port
	Until time.Time
	Why   string // in words, without a credential
}

// Pauses lists those that are on, by host.
func (c *Client) Pauses() []Pause {
	now := c.options.Now()
	c.hosts.mu.Lock()
	var all []Pause
	for _, h := range c.hosts.open {
		if one := h.pause(now); one.Until.After(now) {
			all = append(all, one)
		}
	}
	c.hosts.mu.Unlock()
	slices.SortFunc(all, func(a, b Pause) int { return cmp.Compare(a.Host, b.Host) })
	return all
}

func (h *host) pause(now time.Time) Pause {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.blocked.After(now) {
		return Pause{}
	}
	return Pause{Host: h.name, Until: h.blocked, Why: h.why}
}

// Times and number of failures that no answer names a time for.
const (
	mayFail   = 3                // requests in a row, with their repetitions, until a host is left alone
	firstRest = 30 * time.Second // then, up to a half less; doubles with each further failure
)

// fail counts a request that failed although it was repeated. A host of which several
// in a row do is left alone, for a time that grows: each request would wait for the
// same, and many who come back at once keep a host down. One failure in a pause is of
// a request that was under way before it.
func (h *host) fail(now time.Time, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.blocked.After(now) {
		return
	}
	if h.failures++; h.failures < mayFail {
		return
	}
	rest := jittered(min(firstRest<<min(h.failures-mayFail, 10), longestPause))
	h.blocked = now.Add(rest)
	h.why = fmt.Sprintf("the last %d requests failed: %s", h.failures, why)
}

// failed says whether a host could not answer, and in which words.
func failed(resp *http.Response, err error) (why string, failed bool) {
	switch {
	case !worthRepeating(resp, err):
		return "", false
	case err != nil:
		return "no answer", true // the error may hold a URL
	default:
		return fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)), true
	}
}
