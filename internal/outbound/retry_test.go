package outbound

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"promoter/internal/fault"
)

// script answers the requests of each host one after the other, and the last
// answer for ever.
type script struct {
	mu      sync.Mutex
	answers map[string][]func() (*http.Response, error)
	asked   map[string][]time.Time
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	host := req.URL.Host
	if s.asked == nil {
		s.asked = map[string][]time.Time{}
	}
	s.asked[host] = append(s.asked[host], time.Now())
	list := s.answers[host]
	if len(list) > 1 {
		s.answers[host] = list[1:]
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	return list[0]()
}

func status(code int, header ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		resp := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("words"))}
		for i := 0; i+1 < len(header); i += 2 {
			resp.Header.Set(header[i], header[i+1])
		}
		return resp, nil
	}
}

func broken(err error) func() (*http.Response, error) {
	return func() (*http.Response, error) { return nil, err }
}

type answers = []func() (*http.Response, error)

// ask sends one request through the budget and the retries of c.
func ask(c *Client, s *script, method, host string, body io.Reader) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), c.options.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "https://"+host+"/", body)
	if err != nil {
		return nil, err
	}
	h := c.hosts.of(host)
	if err := h.enter(ctx); err != nil {
		return nil, err
	}
	defer h.leave()
	return c.attempt(req, h, s)
}

func clock(t *testing.T, options Options) *Client {
	t.Helper()
	options.Now = time.Now
	c, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lateError is a timeout as net and net/http make it: they also
// match the end of a context.
type lateError struct{}

func (lateError) Error() string        { return "timeout awaiting response headers" }
func (lateError) Timeout() bool        { return true }
func (lateError) Temporary() bool      { return true }
func (lateError) Is(target error) bool { return target == context.DeadlineExceeded }

func TestRetry_serverErrorsAndTimeouts(t *testing.T) {
	t.Parallel()
	timeout := &net.DNSError{IsTimeout: true}
	for _, tc := range []struct {
		name    string
		answers answers
		method  string
		asked   int
		status  int
		kind    fault.Kind
	}{
		{"500 then fine", answers{status(500), status(200)}, "GET", 2, 200, ""},
		{"reset then fine", answers{broken(syscall.ECONNRESET), status(200)}, "GET", 2, 200, ""},
		{"timeout then fine", answers{broken(timeout), status(200)}, "HEAD", 2, 200, ""},
		{"no answer in time, then fine", answers{broken(lateError{}), status(200)}, "GET", 2, 200, ""},
		{"502 for ever is the answer", answers{status(502)}, "GET", 3, 502, ""},
		{"timeout for ever", answers{broken(timeout)}, "GET", 3, 0, fault.Temporary},
		{"404 is an answer", answers{status(404)}, "GET", 1, 404, ""},
		{"a POST is sent once", answers{status(500)}, "POST", 1, 500, ""},
		{"an unknown failure is not repeated", answers{broken(errors.New("odd"))}, "GET", 1, 0, fault.Temporary},
		{"a name that is none is not repeated", answers{broken(&net.DNSError{IsNotFound: true})}, "GET", 1, 0, fault.Temporary},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: map[string]answers{"a.example": tc.answers}}
				resp, err := ask(clock(t, Options{}), s, tc.method, "a.example", nil)
				if got := len(s.asked["a.example"]); got != tc.asked {
					t.Errorf("asked %d times, want %d", got, tc.asked)
				}
				if fault.KindOf(err) != tc.kind {
					t.Errorf("err = %v, want kind %q", err, tc.kind)
				}
				if err == nil && resp.StatusCode != tc.status {
					t.Errorf("status = %d, want %d", resp.StatusCode, tc.status)
				}
			})
		})
	}
}

func TestRetry_429BacksOffItsHostOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, start := clock(t, Options{}), time.Now()
		s := &script{answers: map[string]answers{
			"a.example": {status(429, "Retry-After", "600"), status(200)},
			"b.example": {status(200)},
		}}
		_, err := ask(c, s, "GET", "a.example", nil)
		if at, ok := fault.RetryAt(err); !ok || !at.Equal(start.Add(10*time.Minute)) {
			t.Fatalf("err = %v, retry at %v", err, at)
		}
		if _, err := ask(c, s, "GET", "a.example", nil); fault.KindOf(err) != fault.RateLimited || len(s.asked["a.example"]) != 1 {
			t.Errorf("the host was asked again in its pause: %v", err)
		}
		if _, err := ask(c, s, "GET", "b.example", nil); err != nil || time.Since(start) != 0 {
			t.Errorf("the other host waited %v: %v", time.Since(start), err)
		}
		<-time.After(10 * time.Minute)
		if resp, err := ask(c, s, "GET", "a.example", nil); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("after the pause: %v", err)
		}
	})
}

func TestRetry_waitsForShortRetryAfter(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func() (*http.Response, error){
		"seconds":           status(429, "Retry-After", "3"),
		"503 with a time":   status(503, "Retry-After", "3"),
		"no time: a second": status(429),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s := &script{answers: map[string]answers{"a.example": {answer, status(200)}}}
				resp, err := ask(clock(t, Options{}), s, "GET", "a.example", nil)
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Fatalf("err = %v", err)
				}
				if waited := time.Since(start); waited < time.Second || waited > 3*time.Second {
					t.Errorf("waited %v", waited)
				}
			})
		})
	}
}

func TestRetry_retryAfterMayBeADate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"7":                             7 * time.Second,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute,
		"Fri, 02 Jan 2026 03:00:00 GMT": 0,
	} {
		if got, ok := RetryAfter(value, now); !ok || got != want {
			t.Errorf("RetryAfter(%q) = %v, %v", value, got, ok)
		}
	}
	for _, value := range []string{"", "-1", "soon", "1.5", "99999999999999999999"} {
		if got, ok := RetryAfter(value, now); ok {
			t.Errorf("RetryAfter(%q) = %v", value, got)
		}
	}
}

func TestRetry_boundsRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: map[string]answers{"a.example": {status(429, "Retry-After", "4000000000")}}}
		_, err := ask(clock(t, Options{}), s, "GET", "a.example", nil)
		if at, _ := fault.RetryAt(err); time.Until(at) != time.Hour {
			t.Errorf("retry at %v from now", time.Until(at))
		}
	})
}

func TestRetry_backoffDoublesWithRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clock(t, Options{Attempts: 1})
		s := &script{answers: map[string]answers{"a.example": {status(429)}}}
		var pauses []time.Duration
		for range 3 {
			_, err := ask(c, s, "GET", "a.example", nil)
			at, _ := fault.RetryAt(err)
			pauses = append(pauses, time.Until(at))
			<-time.After(time.Until(at))
		}
		if pauses[0] != time.Second || pauses[1] != 2*time.Second || pauses[2] != 4*time.Second {
			t.Errorf("pauses = %v", pauses)
		}
	})
}

// Requests that were under way together are refused together: that is one refusal.
func TestRetry_countsConcurrentRefusalsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, start := clock(t, Options{}), time.Now()
		s := &script{answers: map[string]answers{"a.example": {func() (*http.Response, error) {
			<-time.After(time.Millisecond) // all are sent before the first is answered
			return status(429)()
		}}}}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				_, err := ask(c, s, http.MethodGet, "a.example", nil)
				if at, ok := fault.RetryAt(err); !ok || at.Sub(start) > 8*time.Second {
					t.Errorf("err = %v, a pause of %v", err, at.Sub(start))
				}
			})
		}
		group.Wait()
	})
}

func TestRetry_sendsBodyAgain(t *testing.T) {
	t.Parallel()
	var got []string
	s := roundTrip(func(req *http.Request) (*http.Response, error) {
		data, err := io.ReadAll(req.Body)
		got = append(got, string(data))
		if len(got) == 1 {
			return nil, syscall.ECONNRESET
		}
		resp, _ := status(200)()
		return resp, err
	})
	c := clock(t, Options{})
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://a.example/", strings.NewReader("question"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.attempt(req, c.hosts.of("a.example"), s)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if len(got) != 2 || got[1] != "question" {
		t.Errorf("sent %q", got)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// The message explains the failure before it quotes the error of Go.
func TestRetry_explainsNetworkFailures(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"a.example did not answer in time: timeout awaiting response headers": lateError{},
		"there is no host a.example: lookup a.example: no such host":          &net.DNSError{Err: "no such host", Name: "a.example", IsNotFound: true},
		"odd": errors.New("odd"),
	} {
		s := &script{answers: map[string]answers{"a.example": {broken(err)}}}
		_, got := ask(clock(t, Options{Attempts: 1}), s, http.MethodGet, "a.example", nil)
		if got == nil || got.Error() != want || !errors.Is(got, err) {
			t.Errorf("err = %v, want %s", got, want)
		}
	}
}

func TestRetry_stopsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: map[string]answers{"a.example": {status(429, "Retry-After", "5")}}}
		_, err := ask(clock(t, Options{Timeout: 2 * time.Second}), s, "GET", "a.example", nil)
		if fault.KindOf(err) != fault.RateLimited || time.Now().Second() != 0 {
			t.Errorf("err = %v after a wait that could not help", err)
		}
	})
}
