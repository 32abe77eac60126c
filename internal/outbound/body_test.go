package outbound

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
