package rest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// The pause of one credential is reported as long as it is in effect, without that
// credential, and not for another one.
func TestState_hasThePausesOfOneCredential(t *testing.T) {
	t.Parallel()
	const token = "canary-of-a-token"
	forge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "too often: "+r.Header.Get("Authorization"))
	}))
	t.Cleanup(forge.Close)
	endpoint, err := url.Parse(forge.URL)
	if err != nil {
		t.Fatal(err)
	}
	now := noon
	var asked, other, none State
	client := func(of *State) *http.Client {
		limits := Limits{Refused: func(resp *http.Response, data []byte) (string, bool) {
			return string(data), resp.StatusCode == http.StatusTooManyRequests
		}}
		return NewClient(Connection{
			HTTP: forge.Client(), Now: func() time.Time { return now },
			Token: func(context.Context) (secret.String, error) { return secret.New(token), nil },
		}, endpoint, limits, of)
	}
	limited := client(&asked)
	client(&other)
	if pause, on := asked.Paused(); on {
		t.Errorf("before any request: %+v", pause)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, forge.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := limited.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Fatal("the refusal is no error")
	}
	pause, on := asked.Paused()
	want := outbound.Backoff{Host: endpoint.Host, Until: noon.Add(time.Minute), Reason: "rate limited: too often: Bearer ***"}
	if diff := cmp.Diff(want, pause); diff != "" || !on {
		t.Errorf("on: %t, %s", on, diff)
	}
	for name, one := range map[string]*State{"another credential": &other, "of no client": &none} {
		if pause, on := one.Paused(); on {
			t.Errorf("%s: %+v", name, pause)
		}
	}
	now = now.Add(time.Minute)
	if pause, on := asked.Paused(); on {
		t.Errorf("after its end: %+v", pause)
	}
}
