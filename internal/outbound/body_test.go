package outbound

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"promoter/internal/fault"
)

func TestClient_timeoutCoversTheBody(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stop) })
	c := newClient(t, Options{AllowLoopback: true, Timeout: 100 * time.Millisecond}, nil)
	_, err := get(c, server.URL)
	if fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("err = %v (%s), want a temporary fault", err, fault.KindOf(err))
	}
}

// A server that stops in the middle of a long response does not keep a request until its
// timeout, and one that is slow but goes on is read to the end.
func TestBody_endsWhenTheServerStalls(t *testing.T) {
	t.Parallel()
	for pause, ended := range map[time.Duration]bool{29 * time.Second: false, 31 * time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			from, server := io.Pipe()
			var serving sync.WaitGroup
			serving.Go(func() {
				for range 10 {
					<-time.After(pause)
					if _, err := io.WriteString(server, "part "); err != nil {
						return // the request was ended
					}
				}
				_ = server.Close()
			})
			released := false
			end := func() { _ = server.CloseWithError(context.Canceled) }
			b := newBody(t.Context(), "git.example.com", from, 30*time.Second, end, func() { released = true })
			text, err := io.ReadAll(b)
			serving.Wait()
			if !released {
				t.Error("the slot is not released")
			}
			if !ended && (err != nil || string(text) != strings.Repeat("part ", 10)) {
				t.Errorf("a slow response: %q, %v", text, err)
			}
			if ended && (fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "git.example.com did not answer in time")) {
				t.Errorf("err = %v (%s), want a temporary fault", err, fault.KindOf(err))
			}
		})
	}
}

func TestClient_releasesSlotWithoutClose(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answer") }))
	t.Cleanup(server.Close)
	c := newClient(t, Options{AllowLoopback: true, RateLimit: RateLimit{Concurrent: 1}, Timeout: 5 * time.Second}, nil)
	for range 3 {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadAll_isBounded(t *testing.T) {
	t.Parallel()
	if data, err := ReadAll(strings.NewReader("12345"), 5); err != nil || string(data) != "12345" {
		t.Errorf("data, err = %q, %v", data, err)
	}
	if data, err := ReadAll(strings.NewReader("123456"), 5); data != nil || fault.KindOf(err) != fault.Invalid {
		t.Errorf("data, err = %q, %v", data, err)
	}
}
