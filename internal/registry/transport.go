package registry

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Bounds of an answer. A registry that does not page sends all tags at once.
const (
	maxAnswer = 16 << 20
	pingFor   = 10 * time.Minute
	maxPings  = 1024
)

// transport stands between the library and the guarded way out: it bounds each
// answer, and asks each host only now and then how it wants a login. The library
// asks that for every repository.
type transport struct {
	inner http.RoundTripper
	now   func() time.Time

	mu    sync.Mutex
	pings map[string]ping
}

// ping is a registry's answer to a question without a credential.
type ping struct {
	status int
	header http.Header
	until  time.Time
}

func newTransport(inner http.RoundTripper, now func() time.Time) *transport {
	return &transport{inner: inner, now: now, pings: map[string]ping{}}
}

// RoundTrip sends a request or answers a repeated ping.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	host, pings := req.URL.Scheme+"://"+req.URL.Host, isPing(req)
	if pings {
		if known, ok := t.known(host); ok {
			return known.answer(req), nil
		}
	}
	resp, err := t.inner.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if pings {
		t.learn(host, resp)
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	return resp, nil
}

// isPing knows the question of the distribution specification, section
// "determining support". One with a credential is about that credential.
func isPing(req *http.Request) bool {
	return req.Method == http.MethodGet && req.URL.Path == "/v2/" && req.URL.RawQuery == "" &&
		req.Header.Get("Authorization") == ""
}

func (t *transport) known(host string) (ping, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.pings[host]
	return p, ok && t.now().Before(p.until)
}

func (t *transport) learn(host string, resp *http.Response) {
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusUnauthorized {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pings) >= maxPings {
		clear(t.pings)
	}
	t.pings[host] = ping{
		status: resp.StatusCode,
		header: http.Header{"Www-Authenticate": resp.Header.Values("WWW-Authenticate")},
		until:  t.now().Add(pingFor),
	}
}

func (p ping) answer(req *http.Request) *http.Response {
	return &http.Response{
		StatusCode: p.status, Status: http.StatusText(p.status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: p.header.Clone(), Request: req,
		Body: io.NopCloser(strings.NewReader("")),
	}
}
