package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// Limits of the gate.
const (
	MaxAnswer    = 48 << 20         // bytes per response: 100 texts of 65,536 characters, six bytes each
	longestTurn  = 30 * time.Second // that a write waits for its turn
	firstPause   = time.Minute      // after a secondary limit without a time; doubles
	longestPause = time.Hour        // maximum of those
	maxPause     = 24 * time.Hour   // bounds an incorrect time from the server
)

// Limits describes how a forge reports its rate limits.
type Limits struct {
	// Prefix is the prefix of the headers that end in Remaining and Reset, in the
	// form of http.Header. Reset is in Unix seconds.
	Prefix string
	// Refused reports whether a response is a rate limit refusal, and returns its
	// message. It is called for every 4xx response.
	Refused func(resp *http.Response, data []byte) (words string, refused bool)
}

// gate enforces a forge's rate limits for one credential. When the forge requests a
// pause, or the limit is exhausted, no request is sent until the pause is over: calls
// fail immediately with the end time.
//
// It removes the rate limit headers from responses, so that the client library does
// not enforce them a second time with another clock.
type gate struct {
	next http.RoundTripper
	now  func() time.Time
	pace time.Duration

	limits Limits

	ahead atomic.Int64 // nanoseconds that the clock of the forge is ahead of ours, by its responses

	mu      sync.Mutex
	until   time.Time // no requests before this time
	words   string    // the forge's message for that pause
	strikes int       // consecutive secondary limits
	write   time.Time // earliest time of the next write
}

// RoundTrip sends the request, unless a pause is in effect. The response body is in
// memory.
func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.admit(req); err != nil {
		closeBody(req)
		return nil, err
	}
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", req.URL.Host, err)
	}
	if date, invalid := http.ParseTime(resp.Header.Get("Date")); invalid == nil {
		g.ahead.Store(int64(date.Sub(g.now())))
	}
	data, err := outbound.ReadAll(resp.Body, MaxAnswer)
	_ = resp.Body.Close() // already read
	if err != nil {
		return nil, cutOff(req.URL.Host, err)
	}
	if err := g.note(req, resp, data); err != nil {
		return nil, err
	}
	setBody(resp, data)
	return resp, nil
}

// cutOff returns the error for an incomplete response. The request may have taken
// effect.
func cutOff(host string, err error) error {
	if fault.KindOf(err) != fault.Internal {
		return fmt.Errorf("read the answer of %s: %w", host, err)
	}
	return fault.New(fault.Temporary, "read the answer of %s: %w", host, err)
}

func (g *gate) admit(req *http.Request) error {
	if err := g.paused(); err != nil {
		return err
	}
	if g.pace <= 0 || req.Method == http.MethodGet {
		return nil
	}
	wait, err := g.turn()
	if err != nil {
		return err
	}
	if err := outbound.Sleep(req.Context(), wait); err != nil {
		return err
	}
	return g.paused()
}

func (g *gate) paused() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.until.After(g.now()) {
		return nil
	}
	return limited(g.until, g.words)
}

// turn reserves the next slot for a write.
func (g *gate) turn() (time.Duration, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	turn := g.write
	if turn.Before(now) {
		turn = now
	}
	if turn.Sub(now) > longestTurn {
		return 0, limited(turn, "more writes are waiting than the forge accepts at once")
	}
	g.write = turn.Add(g.pace)
	return turn.Sub(now), nil
}

func limited(until time.Time, words string) error {
	return fault.Limited(until, fmt.Errorf("rate limited until %s: %s", until.UTC().Format(time.RFC3339), words))
}

// note reads the rate limits of a response. It returns an error if the response is a
// refusal.
func (g *gate) note(req *http.Request, resp *http.Response, data []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, head := g.now(), resp.Header
	words, refused := g.refusal(resp, data)
	spent := head.Get(g.limits.Prefix+"Remaining") == "0"
	switch {
	case refused:
		g.pause(now, g.end(now, head, spent), without(words, req))
		return limited(g.until, g.words)
	case spent:
		if reset, ok := g.resetOf(head); ok {
			g.pause(now, reset, "the limit of requests is used up")
		}
	}
	if resp.StatusCode < http.StatusBadRequest {
		g.strikes = 0
	}
	for name := range head {
		if strings.HasPrefix(name, g.limits.Prefix) {
			head.Del(name)
		}
	}
	return nil
}

// end returns the end of the pause that a refusal requests: from Retry-After, from
// the reset of the exhausted limit, or after a default backoff.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
func (g *gate) end(now time.Time, head http.Header, spent bool) time.Time {
	if asked, ok := outbound.RetryAfter(head.Get("Retry-After"), now); ok {
		return now.Add(asked)
	}
	if reset, ok := g.resetOf(head); ok && spent {
		return outbound.Later(reset, now.Add(time.Second)) // the two clocks may differ
	}
	if g.until.After(now) {
		return g.until // request sent before the pause: the same refusal
	}
	pause := min(firstPause<<min(g.strikes, 10), longestPause)
	g.strikes++
	return now.Add(pause)
}

func (g *gate) pause(now, until time.Time, words string) {
	if latest := now.Add(maxPause); until.After(latest) {
		until = latest
	}
	if until.After(g.until) {
		g.until, g.words = until, words
	}
}

func (g *gate) refusal(resp *http.Response, data []byte) (words string, refused bool) {
	if resp.StatusCode < http.StatusBadRequest || resp.StatusCode >= http.StatusInternalServerError {
		return "", false
	}
	return g.limits.Refused(resp, data)
}

func (g *gate) resetOf(head http.Header) (time.Time, bool) {
	seconds, err := strconv.ParseInt(head.Get(g.limits.Prefix+"Reset"), 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}, false
	}
	return time.Unix(seconds, 0).UTC(), true
}

// State is what the responses of a forge to one credential say about it: its time, and the
// pause that it requests. NewClient sets it; the zero value reports no pause.
type State struct {
	host string
	gate *gate
}

// Time returns the time by the clock of the forge, exact to a second.
func (s *State) Time() time.Time { return s.gate.now().Add(time.Duration(s.gate.ahead.Load())) }

// Paused returns the pause in effect, with the message of the error that calls fail
// with.
func (s *State) Paused() (pause outbound.Backoff, on bool) {
	if s.gate == nil {
		return outbound.Backoff{}, false
	}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	if !s.gate.until.After(s.gate.now()) {
		return outbound.Backoff{}, false
	}
	return outbound.Backoff{Host: s.host, Until: s.gate.until, Reason: "rate limited: " + s.gate.words}, true
}

// without removes the credential of a request from the forge's message, because the
// message is kept and shown to others.
func without(words string, req *http.Request) string {
	_, token, found := strings.Cut(req.Header.Get("Authorization"), " ")
	if !found || token == "" {
		return words
	}
	return secret.Erase(words, token)
}
