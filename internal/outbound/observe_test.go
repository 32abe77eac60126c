package outbound

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Every request is reported, also retries and those without a response.
func TestObserve(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/again":
			if asked == 1 {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			w.Header().Set("X-RateLimit-Remaining", "4999")
			w.Header().Set("X-RateLimit-Resource", "core")
		case "/search":
			w.Header().Set("X-RateLimit-Remaining", "29")
			w.Header().Set("X-RateLimit-Resource", "search")
		case "/gitlab":
			w.Header().Set("RateLimit-Remaining", "17")
		case "/hub":
			w.Header().Set("RateLimit-Remaining", "76;w=21600")
		case "/odd":
			w.Header().Set("RateLimit-Remaining", "-3")
		}
	}))
	defer server.Close()
	var told []Exchange
	client, err := New(Options{
		AllowLoopback: true, Now: time.Now, Attempts: 2,
		Observe: func(_ context.Context, a Exchange) { told = append(told, a) },
	})
	if err != nil {
		t.Fatal(err)
	}
	host := server.Listener.Addr().String()
	for _, path := range []string{"/again", "/search", "/gitlab", "/hub", "/odd"} {
		if _, err := get(client, "http://"+host+path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	const closed = "127.0.0.1:1" // no other process can get this port
	if _, err := get(client, "http://"+closed); err == nil {
		t.Error("closed answers")
	}
	if skew := told[0].Skew.Abs(); skew > time.Minute { // of Go's own Date, in seconds
		t.Errorf("the clocks differ by %v", skew)
	}
	want := []Exchange{
		{Method: http.MethodGet, Host: host, Route: "/*", Status: 502, Remaining: -1},
		{Method: http.MethodGet, Host: host, Route: "/*", Status: 200, Remaining: 4999},
		{Method: http.MethodGet, Host: host, Route: "/search", Status: 200, Remaining: -1},
		{Method: http.MethodGet, Host: host, Route: "/*", Status: 200, Remaining: 17},
		{Method: http.MethodGet, Host: host, Route: "/*", Status: 200, Remaining: 76},
		{Method: http.MethodGet, Host: host, Route: "/*", Status: 200, Remaining: -1},
		{Method: http.MethodGet, Host: closed, Route: "/", Remaining: -1},
		{Method: http.MethodGet, Host: closed, Route: "/", Remaining: -1},
	}
	if diff := cmp.Diff(want, told, cmpopts.IgnoreFields(Exchange{}, "Began", "Took", "Skew")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
