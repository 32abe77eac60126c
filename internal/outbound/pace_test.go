package outbound

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"promoter/internal/fault"
)

// A host on this machine, or in a network of the operator, gets as many requests as it
// takes; any other host, and one with a limit of the operator, gets a few. The clock stands
// still, so that the first request above the rate would wait for longer than it may.
func TestPace_ofNearHosts(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for name, test := range map[string]struct {
		options Options
		limited bool
	}{
		"loopback":                      {options: Options{AllowLoopback: true}},
		"a network of the operator":     {options: Options{Networks: loopback, Insecure: []string{host}}},
		"only limits of other requests": {options: Options{AllowLoopback: true, RateLimit: RateLimit{Concurrent: 2}}},
		"a limit of the operator":       {options: Options{AllowLoopback: true, RateLimit: RateLimit{PerSecond: politeRate}}, limited: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.options.MaxWait = 10 * time.Millisecond
			test.options.Now = func() time.Time { return time.Unix(0, 0) }
			c, err := New(test.options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.CloseIdleConnections)
			for i := range defaultBurst + 50 {
				_, err := get(c, server.URL)
				if limited := fault.KindOf(err) == fault.RateLimited; limited != (test.limited && i >= defaultBurst) || err != nil && !limited {
					t.Fatalf("request %d: %v", i, err)
				}
			}
		})
	}
}

// The address of a proxy is not that of the host behind it.
func TestPace_behindAProxy(t *testing.T) {
	t.Parallel()
	c := clock(t, Options{})
	if got := c.traced(t.Context(), c.hosts.of("a.example"), c.proxied); got != t.Context() {
		t.Error("the address of the proxy is traced")
	}
}

// A host that permits fewer requests is slowed down to what it permits: no request fails,
// and few are refused.
func TestPace_slowsDownWhenRefused(t *testing.T) {
	t.Parallel()
	for _, permitted := range []int{1000, 200, 50, 20} {
		t.Run(fmt.Sprint(permitted), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := clock(t, Options{})
				c.hosts.of("a.example").reached(time.Now(), true)
				server := &limitedServer{permitted: permitted}
				const requests, workers = 1200, 8
				start := time.Now()
				var group sync.WaitGroup
				for range workers {
					group.Go(func() {
						for range requests / workers {
							if err := server.ask(c); err != nil {
								t.Error(err)
							}
						}
					})
				}
				group.Wait()
				if server.refused > requests/10 {
					t.Errorf("%d of %d requests were refused", server.refused, requests)
				}
				if took, best := time.Since(start), time.Duration(requests/permitted)*time.Second; took > 3*best+10*time.Second {
					t.Errorf("it took %v; at the permitted rate it takes %v", took, best)
				}
			})
		})
	}
}

// limitedServer permits some requests in each second.
type limitedServer struct {
	permitted int

	mu            sync.Mutex
	second        time.Time
	sent, refused int
}

func (s *limitedServer) ask(c *Client) error {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://a.example/", nil)
	if err != nil {
		return err
	}
	h := c.hosts.of("a.example")
	if err := h.enter(req.Context()); err != nil {
		return err
	}
	defer h.leave()
	_, err = c.attempt(req, h, s)
	return err
}

func (s *limitedServer) RoundTrip(*http.Request) (*http.Response, error) {
	<-time.After(time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.second) >= time.Second {
		s.second, s.sent = time.Now(), 0
	}
	if s.sent++; s.sent > s.permitted {
		s.refused++
		return status(http.StatusTooManyRequests, "Retry-After", "1")()
	}
	return status(http.StatusOK)()
}

// The rate doubles with every second in which the host was busy and quick, up to its limit; it is
// halved when responses take longer.
func TestPace_adapts(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	p := newPace(RateLimit{Most: 300})
	second := func(requests int, took time.Duration) {
		for range requests {
			p.reserve(now, time.Hour)
			p.responded(took)
		}
		now = now.Add(time.Second)
		p.count(now)
	}
	const quick, slow = 10 * time.Millisecond, 200 * time.Millisecond
	for i, step := range []struct {
		requests int
		took     time.Duration
		rate     float64
	}{
		{enoughResponses - 1, quick, 50},
		{20, quick, 50}, // not busy
		{50, quick, 100},
		{100, quick, 200},
		{200, 2 * quick, 300},
		{300, quick, 300},
		{300, slow, 150},
		{150, slow, 300}, // it is usual now
		{300, quick, 300},
		{300, slow, 150},
	} {
		if second(step.requests, step.took); p.rate != step.rate {
			t.Errorf("after second %d, the rate is %v, want %v", i, p.rate, step.rate)
		}
	}
	p.slow(now, now)
	for range 3 {
		second(100, quick)
	}
	if p.rate > 150 {
		t.Errorf("after a refusal, the rate doubles again: %v", p.rate)
	}
	for name, fixed := range map[string]RateLimit{"a limit of the operator": {PerSecond: 50, Most: 300}, "no limit to double up to": {}} {
		if p = newPace(fixed); p.rate != 50 {
			t.Errorf("%s: it begins with %v", name, p.rate)
		}
		if second(100, quick); p.rate != 50 {
			t.Errorf("%s: the rate is %v", name, p.rate)
		}
	}
	if p = newPace(RateLimit{Most: 10}); p.rate != 10 || p.limit != 10 {
		t.Errorf("above its limit: %+v", p)
	}
}

// A host that permits many requests gets nearly as many as it permits.
func TestPace_findsWhatAHostPermits(t *testing.T) {
	t.Parallel()
	for permitted, longest := range map[int]time.Duration{10_000: 8 * time.Second, 400: 20 * time.Second} {
		t.Run(fmt.Sprint(permitted), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := clock(t, Options{RateLimit: RateLimit{Most: 1000}})
				server := &limitedServer{permitted: permitted}
				start := time.Now()
				var group sync.WaitGroup
				for range 8 {
					group.Go(func() {
						for range 4000 / 8 {
							if err := server.ask(c); err != nil {
								t.Error(err)
							}
						}
					})
				}
				group.Wait()
				if took := time.Since(start); took > longest {
					t.Errorf("4000 requests took %v, and %d were refused", took, server.refused)
				}
			})
		})
	}
}

// Half of what it got in the last second, then more with every second, up to the limit.
func TestPace_ratesAfterARefusal(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	after := func(d time.Duration) time.Time { return start.Add(d) }
	p := newPace(RateLimit{PerSecond: 100, Burst: 10, Concurrent: 2})
	for range 60 {
		p.reserve(start, time.Hour)
	}
	p.slow(start, after(5*time.Second))
	p.slow(start, after(5*time.Second)) // of a request that was sent together with the first
	for _, step := range []struct {
		at   time.Duration
		rate float64
	}{{5 * time.Second, 30}, {6 * time.Second, 40}, {7500 * time.Millisecond, 55}, {20 * time.Second, 100}} {
		if p.interval(after(step.at)); p.rate != step.rate {
			t.Errorf("after %v, the rate is %v, want %v", step.at, p.rate, step.rate)
		}
	}
	p.slow(after(30*time.Second), after(31*time.Second))
	if p.rate != 30 {
		t.Errorf("after another refusal, the rate is %v", p.rate)
	}
	for range 10 {
		p.sent, p.before, p.slowed = 0, 0, time.Time{}
		p.slow(after(40*time.Second), after(41*time.Second))
	}
	if p.rate != lowestRate {
		t.Errorf("after many refusals, the rate is %v", p.rate)
	}
}

// A name that leads elsewhere now is no longer near, and a refusal stays in effect.
func TestPace_setNear(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	p := newPace(RateLimit{})
	for _, step := range []struct {
		near, refused bool
		rate          float64
	}{{false, false, politeRate}, {true, false, highestRate}, {true, true, 1}, {false, false, 1}, {true, false, 1}} {
		p.setNear(now, step.near)
		if step.refused {
			p.slow(now, now)
		}
		if p.rate != step.rate {
			t.Errorf("%+v: the rate is %v", step, p.rate)
		}
	}
}
