package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/budget"
)

const (
	maxResponse = 16 << 20 // bytes; a registry without pages sends all tags at once
	pingFor     = 10 * time.Minute
	maxPings    = 1024
)

// transport is between the library and the outbound client. It bounds each response,
// and caches how each host wants a login: the library asks that for every repository.
type transport struct {
	inner outboundClient
	now   func() time.Time

	mu    sync.Mutex
	pings map[string]ping
}

// outboundClient is the part of the guarded client that is used.
type outboundClient interface {
	http.RoundTripper
	Insecure(host string) bool
}

// ping is a registry's response to a ping, a request without a credential.
type ping struct {
	plain  bool // it does not support TLS
	status int
	header http.Header
	until  time.Time
	// open is the login of all repositories of a host that wants none; nil: it does, or was not asked yet.
	open *login
}

// errPlain is the response to a TLS ping of a host without TLS. The library then tries
// plain HTTP where it considers that, and the outbound client refuses it where it is not
// allowed. It is not a fault, so that the error of the second request is shown.
var errPlain = errors.New("the host speaks plain http where https is required: if that is meant, " +
	"mark it `insecure: true` in the server file and list its network under `networks`")

// RoundTrip sends a request, or answers a ping from the cache.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	host, pings := req.URL.Scheme+"://"+req.URL.Host, isPing(req)
	if pings {
		if known, ok := t.known(host, req); ok {
			return known.response(req)
		}
	}
	ctx := req.Context()
	if err := budget.Spend(ctx, budget.Requests, req.URL.Host, 1); err != nil {
		return nil, err
	}
	resp, err := t.inner.RoundTrip(req)
	if _, isPlain := errors.AsType[tls.RecordHeaderError](err); pings && isPlain {
		t.remember(host, ping{plain: true})
		return nil, errPlain
	}
	if err != nil {
		return nil, err
	}
	if pings && (isOpen(resp.StatusCode) || resp.StatusCode == http.StatusUnauthorized) {
		challenge := http.Header{"Www-Authenticate": resp.Header.Values("WWW-Authenticate")}
		t.remember(host, ping{status: resp.StatusCode, header: challenge})
	}
	resp.Body = &chargedBody{ReadCloser: http.MaxBytesReader(nil, resp.Body, maxResponse), ctx: ctx, host: req.URL.Host}
	return resp, nil
}

// chargedBody charges the budget of a reconciliation with the bytes that are read.
type chargedBody struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // of the request that the body answers
	host string
}

// Read implements io.Reader.
func (b *chargedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if over := budget.Spend(b.ctx, budget.Received, b.host, int64(n)); over != nil {
		return n, over
	}
	return n, err
}

// isPing reports whether a request is that of the distribution specification, section
// "determining support". One with a credential is about that credential.
func isPing(req *http.Request) bool {
	return req.Method == http.MethodGet && req.URL.Path == "/v2/" && req.URL.RawQuery == "" &&
		req.Header.Get("Authorization") == ""
}

// isOpen reports whether the response to a ping asks for no login. A ping is only a hint: a registry without this path may have
// repositories, each of which may ask for one.
func isOpen(status int) bool {
	return slices.Contains([]int{http.StatusOK, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed}, status)
}

// known returns the cached ping of a host. A host that the operator marked insecure is
// not pinged over TLS.
func (t *transport) known(host string, req *http.Request) (ping, bool) {
	if req.URL.Scheme == "https" && t.inner.Insecure(req.URL.Host) {
		return ping{plain: true}, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.pings[host]
	return p, ok && t.now().Before(p.until)
}

// open returns the login of a host that wants none; nil: it may want one.
func (t *transport) open(host string) *login {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pings[t.pinged(host)]
	if p.open == nil || !t.now().Before(p.until) || p.open.transport.refusals.Load() >= maxRefusals {
		return nil
	}
	return p.open
}

// setOpen keeps a login without a credential if the host wants none.
func (t *transport) setOpen(host string, made *login) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.pinged(host)
	if p := t.pings[at]; isOpen(p.status) {
		p.open = made
		t.pings[at] = p
	}
}

// pinged returns the key of the ping that a host answered last. The caller holds the lock.
func (t *transport) pinged(host string) string {
	if p, ok := t.pings["https://"+host]; ok && !p.plain {
		return "https://" + host
	}
	return "http://" + host
}

func (t *transport) remember(host string, p ping) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pings) >= maxPings {
		clear(t.pings)
	}
	p.until = t.now().Add(pingFor)
	t.pings[host] = p
}

// forget pings a host again with the next request.
func (t *transport) forget(host string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pings, "https://"+host)
	delete(t.pings, "http://"+host)
}

func (p ping) response(req *http.Request) (*http.Response, error) {
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
