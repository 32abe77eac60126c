package github

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

func TestGate_P12_limitsOfGitHub(t *testing.T) {
	t.Parallel()
	reset := strconv.FormatInt(noon.Add(20*time.Minute).Unix(), 10)
	past := strconv.FormatInt(noon.Add(-time.Minute).Unix(), 10)
	for _, test := range []struct {
		name    string
		status  int
		message string
		headers []string
		wait    time.Duration
	}{
		{"primary", 403, "API rate limit exceeded for user ID 1.", []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: " + reset}, 20 * time.Minute},
		{"primary as 429", 429, "API rate limit exceeded", []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: " + reset}, 20 * time.Minute},
		{"primary, reset already", 403, "API rate limit exceeded", []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: " + past}, time.Second},
		{"secondary with a time", 403, "You have exceeded a secondary rate limit.", []string{"Retry-After: 90", "X-RateLimit-Remaining: 4000", "X-RateLimit-Reset: " + reset}, 90 * time.Second},
		{"secondary with a date", 429, "", []string{"Retry-After: Mon, 01 Jun 2026 12:03:00 GMT"}, 3 * time.Minute},
		{"secondary without a time", 403, "You have exceeded a secondary rate limit.", []string{"X-RateLimit-Remaining: 4000", "X-RateLimit-Reset: " + reset}, time.Minute},
		{"of old servers", 403, "You have triggered an abuse detection mechanism.", nil, time.Minute},
		{"a mistake of the server", 429, "", []string{"Retry-After: 999999999"}, 24 * time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			repository := w.open()
			w.on("GET "+repoPath+"/pulls", says(test.status, `{"message":"`+test.message+`"}`, test.headers...), says(200, `[]`))
			for range 2 { // the second one is not sent
				_, err := repository.PullRequests().Open(t.Context())
				checkFault(t, err, fault.RateLimited, "open pull requests of acme/deploy", "rate limited until")
				if at, _ := fault.RetryAt(err); !at.Equal(noon.Add(test.wait)) {
					t.Errorf("may be tried at %v, want after %v", at, test.wait)
				}
			}
			w.expect("GET " + repoPath + "/pulls")
			w.pass(test.wait)
			if _, err := repository.PullRequests().Open(t.Context()); err != nil {
				t.Error(err)
			}
			w.expect("GET " + repoPath + "/pulls")
		})
	}
}

// The pause of a refusal that names no time doubles, until one is answered.
func TestGate_P12_pauseDoubles(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	repository := w.open()
	refuse := says(403, `{"message":"You have exceeded a secondary rate limit"}`)
	w.on("GET "+repoPath+"/pulls", refuse, refuse, says(200, `[]`), refuse)
	for i, want := range []time.Duration{time.Minute, 2 * time.Minute, 0, time.Minute} {
		_, err := repository.PullRequests().Open(t.Context())
		at, _ := fault.RetryAt(err)
		if want > 0 && !at.Equal(w.clock().Add(want)) || want == 0 && err != nil {
			t.Errorf("try %d: %v, want a pause of %v", i, err, want)
		}
		w.pass(want)
	}
}

// Requests that were under way when the pause began are refused with it.
func TestGate_P12_refusalsTogetherAreOne(t *testing.T) {
	t.Parallel()
	refused := func() *http.Response {
		return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{}}
	}
	g := &gate{now: func() time.Time { return noon }}
	for range 8 {
		err := g.note(refused(), nil)
		if at, _ := fault.RetryAt(err); !at.Equal(noon.Add(time.Minute)) {
			t.Errorf("may be tried at %v", at)
		}
	}
	if g.strikes != 1 {
		t.Errorf("%d strikes", g.strikes)
	}
}

// The last request of the hour was answered: the next would be refused.
func TestGate_P12_spentLimitSendsNothing(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	repository := w.open()
	reset := noon.Add(10 * time.Minute)
	w.on("GET "+repoPath+"/pulls", says(200, `[]`, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: "+strconv.FormatInt(reset.Unix(), 10)))
	if _, err := repository.PullRequests().Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := repository.PullRequests().Create(t.Context(), draft())
	checkFault(t, err, fault.RateLimited)
	if at, _ := fault.RetryAt(err); !at.Equal(reset) {
		t.Errorf("may be tried at %v", at)
	}
	w.expect("GET " + repoPath + "/pulls")
}

// counting answers everything and notes when writes came.
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
	req, err := http.NewRequestWithContext(ctx, method, "https://api.github.com/x", nil)
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
		g := &gate{next: next, now: time.Now, pace: WritePace}
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

// A long line is not waited in: the caller hears when there is a place again.
func TestGate_longLineIsALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate{next: &counting{}, now: time.Now, pace: WritePace, write: time.Now().Add(31 * time.Second)}
		err := send(t.Context(), g, "POST")
		if at, ok := fault.RetryAt(err); !ok || !at.Equal(time.Now().Add(31*time.Second)) {
			t.Errorf("got %v", err)
		}
	})
}

func TestGate_waitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate{next: &counting{}, now: time.Now, pace: WritePace, write: time.Now().Add(5 * time.Second)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := send(ctx, g, "POST"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestGate_answerIsBounded(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	repository := w.open()
	w.on("GET "+repoPath+"/pulls", func(out http.ResponseWriter, _ *http.Request) {
		block := strings.Repeat(" ", 1<<20)
		for range maxAnswer>>20 + 1 {
			if _, err := io.WriteString(out, block); err != nil {
				return
			}
		}
	})
	_, err := repository.PullRequests().Open(t.Context())
	checkFault(t, err, fault.Invalid, "larger than")
}
