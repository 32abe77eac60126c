package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"promoter/internal/fault"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// plain returns the limits of a forge that only responds with 429.
func plain() Limits {
	return Limits{Prefix: "Ratelimit-", Refused: func(resp *http.Response, _ []byte) (string, bool) {
		return "slow down", resp.StatusCode == http.StatusTooManyRequests
	}}
}

// Requests that were sent before the pause began are refused with it.
func TestGate_refusalsTogetherAreOne(t *testing.T) {
	t.Parallel()
	refused := func() *http.Response {
		return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{}}
	}
	g := &gate{now: func() time.Time { return noon }, limits: plain()}
	for range 8 {
		err := g.note(&http.Request{}, refused(), nil)
		if at, _ := fault.RetryAt(err); !at.Equal(noon.Add(time.Minute)) {
			t.Errorf("may be tried at %v", at)
		}
	}
	if g.strikes != 1 {
		t.Errorf("%d strikes", g.strikes)
	}
}

// counting responds to everything and records the times of writes.
type counting struct {
	mu    sync.Mutex
	times []time.Time
}

func (c *counting) RoundTrip(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if req.Method != http.MethodGet {
		c.times = append(c.times, time.Now())
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
}

func send(ctx context.Context, g *gate, method string) error {
	req, err := http.NewRequestWithContext(ctx, method, "https://forge.example.com/x", nil)
	if err != nil {
		return err
	}
	resp, err := g.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

func TestGate_writesKeepADistance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		next := &counting{}
		g := &gate{next: next, now: time.Now, pace: time.Second}
		start := time.Now()
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				if err := errors.Join(send(t.Context(), g, "GET"), send(t.Context(), g, "POST")); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for i, at := range next.times {
			if want := start.Add(time.Duration(i) * time.Second); !at.Equal(want) {
				t.Errorf("write %d went after %v", i, at.Sub(start))
			}
		}
	})
}

// A write does not wait in a long queue: the caller gets the time of the next slot.
func TestGate_longLineIsALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate{next: &counting{}, now: time.Now, pace: time.Second, write: time.Now().Add(31 * time.Second)}
		err := send(t.Context(), g, "POST")
		if at, ok := fault.RetryAt(err); !ok || !at.Equal(time.Now().Add(31*time.Second)) {
			t.Errorf("got %v", err)
		}
	})
}

func TestGate_waitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate{next: &counting{}, now: time.Now, pace: time.Second, write: time.Now().Add(5 * time.Second)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := send(ctx, g, "POST"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// The last request succeeded, and the headers are removed from the response.
func TestGate_prefixOfTheForge(t *testing.T) {
	t.Parallel()
	g := &gate{now: func() time.Time { return noon }, limits: plain()}
	reset := noon.Add(time.Minute)
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}}
	resp.Header.Set("RateLimit-Remaining", "0")
	resp.Header.Set("RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	if err := g.note(&http.Request{}, resp, nil); err != nil || len(resp.Header) != 0 {
		t.Errorf("got %v, headers %v", err, resp.Header)
	}
	if at, _ := fault.RetryAt(g.paused()); !at.Equal(reset) {
		t.Errorf("may be tried at %v", at)
	}
}
