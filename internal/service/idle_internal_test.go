package service

import (
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// spent returns how many requests GitHub has counted.
func (b *bench) spent() int {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.github.API()+"user", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+b.currentToken())
	response, err := b.github.Client().Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		b.t.Fatal(err)
	}
	used, err := strconv.Atoi(response.Header.Get("X-RateLimit-Used"))
	if err != nil {
		b.t.Fatal(err)
	}
	return used
}

// cost returns the requests of a poll and a reconciliation of each repository.
func (b *bench) cost() int {
	b.t.Helper()
	before := b.spent()
	b.clock.Add(6 * time.Minute)
	b.poll()
	for key := range b.current().repositories {
		if _, err := b.reconcile(key); err != nil {
			b.t.Error(err)
		}
	}
	return b.spent() - before - 1 // of spent itself
}

// If nothing happens, polls do not count against the hourly rate limit of GitHub. A token
// that was replaced is used from then on, and nothing that was cached with the old one.
func TestPoll_costsNothingWhenIdle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if now := b.clock.Now().UTC(); now.Add(time.Hour).Day() != now.Day() {
		b.clock.Add(time.Hour) // comments are requested by the day: the first poll of one requests them again
	}
	first := b.cost()
	if again := b.cost(); again != 0 || first == 0 {
		t.Errorf("the second poll costs %d requests, the first %d", again, first)
	}
	old := b.currentToken()
	b.replaceToken()
	b.github.Revoke(old)
	if replaced := b.cost(); replaced < first {
		t.Errorf("with another token the poll costs %d requests, as if it was the one before", replaced)
	}
}

// A backoff outlives the refresh in which it was requested.
func TestBackoffs_outliveRefreshes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.poll()
	b.github.Limit(false, b.clock.Now().Add(10*time.Minute))
	for range 2 {
		b.clock.Add(2 * time.Minute)
		b.poll()
		if got := b.connections.CredentialBackoffs(); len(got) != 1 || got[0].Credential != "the token of forge" {
			t.Errorf("%+v", got)
		}
	}
	b.clock.Add(10 * time.Minute)
	if got := b.connections.CredentialBackoffs(); len(got) != 0 {
		t.Errorf("after it: %+v", got)
	}
}
