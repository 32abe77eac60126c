package github

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm/rest"
)

func TestGate_limitsOfGitHub(t *testing.T) {
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

// The pause of a refusal without a time doubles until a request succeeds.
func TestGate_pauseDoubles(t *testing.T) {
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

// After the last request of the hour, no request is sent: it would be refused.
func TestGate_spentLimitSendsNothing(t *testing.T) {
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

func TestGate_answerIsBounded(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	repository := w.open()
	w.on("GET "+repoPath+"/pulls", func(out http.ResponseWriter, _ *http.Request) {
		block := strings.Repeat(" ", 1<<20)
		for range rest.MaxAnswer>>20 + 1 {
			if _, err := io.WriteString(out, block); err != nil {
				return
			}
		}
	})
	_, err := repository.PullRequests().Open(t.Context())
	checkFault(t, err, fault.Invalid, "larger than")
}
