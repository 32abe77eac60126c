package registry

import (
	"crypto/tls"
	"errors"
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
	inner wayOut
	now   func() time.Time

	mu    sync.Mutex
	pings map[string]ping
}

// wayOut is the part of the guarded client that is used.
type wayOut interface {
	http.RoundTripper
	Insecure(host string) bool
}

// ping is a registry's answer to a question without a credential.
type ping struct {
	plain  bool // it speaks no TLS
	status int
	header http.Header
	until  time.Time
}

// errPlain answers a ping over TLS of a host that speaks none. The library then
// asks over plain http where that is thinkable at all, and the way out refuses
// it where it is not allowed. It is no fault, so that the one of the second
// question is the one that is told.
var errPlain = errors.New("the host speaks plain http where https is wanted: if that is meant, mark it `insecure: true` in the server's file and list its network under `networks`")

func newTransport(inner wayOut, now func() time.Time) *transport {
	return &transport{inner: inner, now: now, pings: map[string]ping{}}
}

// RoundTrip sends a request or answers a repeated ping.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	host, pings := req.URL.Scheme+"://"+req.URL.Host, isPing(req)
	if pings {
		if known, ok := t.known(host, req); ok {
			return known.answer(req)
		}
	}
	resp, err := t.inner.RoundTrip(req)
	if _, speaksPlain := errors.AsType[tls.RecordHeaderError](err); pings && speaksPlain {
		t.learn(host, ping{plain: true})
		return nil, errPlain
	}
	if err != nil {
		return nil, err
	}
	if pings && (resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusUnauthorized) {
		challenge := http.Header{"Www-Authenticate": resp.Header.Values("WWW-Authenticate")}
		t.learn(host, ping{status: resp.StatusCode, header: challenge})
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

// known returns what is known of a host: one that the operator marked is not
// asked over TLS.
func (t *transport) known(host string, req *http.Request) (ping, bool) {
	if req.URL.Scheme == "https" && t.inner.Insecure(req.URL.Host) {
		return ping{plain: true}, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.pings[host]
	return p, ok && t.now().Before(p.until)
}

func (t *transport) learn(host string, p ping) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pings) >= maxPings {
		clear(t.pings)
	}
	p.until = t.now().Add(pingFor)
	t.pings[host] = p
}

// forget asks a host again how it wants a login.
func (t *transport) forget(host string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pings, "https://"+host)
	delete(t.pings, "http://"+host)
}

func (p ping) answer(req *http.Request) (*http.Response, error) {
	if p.plain {
		return nil, errPlain
	}
	return &http.Response{
		StatusCode: p.status, Status: http.StatusText(p.status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: p.header.Clone(), Request: req,
		Body: io.NopCloser(strings.NewReader("")),
	}, nil
}
