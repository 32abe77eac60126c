package outbound

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"promoter/internal/fault"
)

// A host of which requests fail one after the other is left alone, longer each time
// and at most for a while; others are asked as ever. One good answer ends it.
func TestBackoffs_afterFailuresInARow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clock(t, Options{})
		s := &script{answers: map[string]answers{"down.example": {status(503)}, "fine.example": {status(200)}}}
		for n := 1; n <= mayFail; n++ {
			if resp, err := ask(c, s, "GET", "down.example", nil); err != nil || resp.StatusCode != http.StatusServiceUnavailable {
				t.Fatalf("request %d: %v", n, err)
			}
		}
		var last time.Duration
		for n := range 8 {
			begin := time.Now()
			asked := len(s.asked["down.example"])
			_, err := ask(c, s, "GET", "down.example", nil)
			until, ok := fault.RetryAt(err)
			rest := until.Sub(begin)
			if !ok || len(s.asked["down.example"]) != asked || !strings.Contains(err.Error(), "gets no requests until") || !strings.Contains(err.Error(), "503 Service Unavailable") {
				t.Fatalf("in the backoff: %v", err)
			}
			want := min(firstRest<<n, longestPause)
			if rest > want || rest < want/2-2*time.Second || n > 0 && n < 3 && rest < last/2 {
				t.Errorf("pause %d lasts %v, want up to %v", n, rest, want)
			}
			last = rest
			if _, err := ask(c, s, "GET", "fine.example", nil); err != nil {
				t.Errorf("another host: %v", err)
			}
			if all := c.Backoffs(); len(all) != 1 || all[0].Host != "down.example" || !all[0].Until.Equal(until) || all[0].Reason == "" {
				t.Errorf("pauses: %+v", all)
			}
			<-time.After(rest)
			if all := c.Backoffs(); len(all) != 0 {
				t.Errorf("pauses in the end: %+v", all)
			}
			if n == 7 {
				s.answers["down.example"] = answers{status(200)}
			}
			if _, err := ask(c, s, "GET", "down.example", nil); err != nil {
				t.Fatal(err)
			}
		}
		s.answers["down.example"] = answers{status(500)}
		for range mayFail - 1 {
			if resp, err := ask(c, s, "GET", "down.example", nil); err != nil || resp.StatusCode != http.StatusInternalServerError {
				t.Errorf("after it was up: %v", err)
			}
		}
		if all := c.Backoffs(); len(all) != 0 {
			t.Errorf("it begins again: %+v", all)
		}
	})
}

// What asks for a pause is among them too, with no more than that.
func TestBackoffs_requestedByTheHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, start := clock(t, Options{}), time.Now()
		s := &script{answers: map[string]answers{"a.example": {status(429, "Retry-After", "60")}}}
		if _, err := ask(c, s, "GET", "a.example", nil); err == nil || !strings.Contains(err.Error(), "limits requests until") {
			t.Errorf("err = %v", err)
		}
		want := Backoff{Host: "a.example", Until: start.Add(time.Minute), Reason: "rate limited"}
		if all := c.Backoffs(); len(all) != 1 || all[0] != want {
			t.Errorf("%+v, want %+v", all, want)
		}
	})
}

// Answers that are no failures of a host do not count: not found, no right, a name
// that is none.
func TestBackoffs_ignoreClientErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clock(t, Options{})
		s := &script{answers: map[string]answers{"a.example": {status(404), status(401), status(500), status(403), status(500), status(500), status(404)}}}
		for range 7 {
			if _, err := ask(c, s, "POST", "a.example", nil); err != nil {
				t.Fatal(err)
			}
		}
		if all := c.Backoffs(); len(all) != 0 {
			t.Errorf("%+v", all)
		}
	})
}
