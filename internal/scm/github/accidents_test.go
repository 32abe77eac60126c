package github_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
)

// accidents injects failures between the adapter and the emulator.
type accidents struct {
	next http.RoundTripper

	mu          sync.Mutex
	lose        bool
	fail        int
	all, writes int
}

func (a *accidents) set(lose bool, fail int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lose, a.fail = lose, fail
}

func (a *accidents) count() (all, writes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all, a.writes
}

// take counts a request and returns the failure to inject.
func (a *accidents) take(write bool) (lose bool, fail int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all++
	if fail, a.fail = a.fail, 0; fail != 0 || !write {
		return false, fail
	}
	a.writes++
	lose, a.lose = a.lose, false
	return lose, 0
}

// RoundTrip sends the request unless a failure is injected.
func (a *accidents) RoundTrip(r *http.Request) (*http.Response, error) {
	lose, fail := a.take(r.Method != http.MethodGet)
	if fail != 0 {
		body := io.NopCloser(strings.NewReader(`{"message":"accident"}`))
		return &http.Response{StatusCode: fail, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: body, Request: r}, nil
	}
	resp, err := a.next.RoundTrip(r)
	if err == nil && lose {
		_ = resp.Body.Close()
		return nil, errors.New("the connection was reset")
	}
	return resp, err
}
