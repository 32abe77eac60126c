package credential

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

type responses func(*http.Request) (*http.Response, error)

func (f responses) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The library sends a second request when two webhooks arrive with the first response, which
// a test cannot cause: the second request gets the first response.
func TestGoogle_cachesKeysForAWhile(t *testing.T) {
	t.Parallel()
	now, asked := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC), 0
	transport := &keyTransport{now: func() time.Time { return now }, next: responses(func(*http.Request) (*http.Response, error) {
		asked++
		if asked == 2 {
			return nil, errors.New("no route to the host")
		}
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("keys"))}, nil
	})}
	ask := func(wantAsked int, want string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, googleKeys, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := "nothing"
		if response, err := transport.RoundTrip(request); err == nil {
			body, _ := io.ReadAll(response.Body)
			got = string(body)
			_ = response.Body.Close()
		}
		if got != want || asked != wantAsked {
			t.Errorf("got %s after %d questions, want %s after %d", got, asked, want, wantAsked)
		}
	}
	ask(1, "keys")
	ask(1, "keys")
	now = now.Add(keysInterval)
	ask(2, "nothing")
	ask(2, "nothing")
	now = now.Add(keysInterval)
	ask(3, "keys")
}
