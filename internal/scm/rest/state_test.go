package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"promoter/internal/scm/rest"
	"promoter/internal/secret"
)

// The clock of the forge is that of its last response, whatever this machine's is.
func TestClock(t *testing.T) {
	t.Parallel()
	ours := time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC)
	theirs := ours.Add(-time.Hour)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", theirs.Format(http.TimeFormat))
		if r.URL.Path == "/bad" {
			w.Header().Set("Date", "yesterday")
		}
	}))
	defer server.Close()
	endpoint, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var clock rest.State
	client := rest.NewClient(rest.Connection{
		HTTP: server.Client(), Now: func() time.Time { return ours },
		Token: func(context.Context) (secret.String, error) { return secret.String{}, nil },
	}, endpoint, rest.Limits{}, &clock)
	if got := clock.Time(); !got.Equal(ours) {
		t.Errorf("before the first request it is %v", got)
	}
	for _, path := range []string{"/", "/bad"} {
		resp, err := client.Get(server.URL + path) //nolint:noctx // of a test
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		ours = ours.Add(time.Minute)
		if got, want := clock.Time(), ours.Add(-time.Hour); !got.Equal(want) {
			t.Errorf("after %s it is %v, want %v", path, got, want)
		}
	}
}
