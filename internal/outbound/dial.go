package outbound

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"promoter/internal/fault"
)

// Limits of one connection.
const (
	dialTimeout     = 10 * time.Second
	tlsTimeout      = 10 * time.Second
	headerTimeout   = 30 * time.Second
	bodyTimeout     = 30 * time.Second // between two parts of a body; Git sends one every five seconds
	idleTimeout     = 90 * time.Second
	idlePerHost     = 16
	maxIdle         = 256
	maxHeaderBytes  = 64 << 10
	expectedTimeout = time.Second
)

// addressCheck refuses an address of a host.
type addressCheck func(host string, addr netip.Addr) error

// dialer dials only addresses that its check permits.
type dialer struct {
	check    addressCheck
	resolver *net.Resolver // nil: the system's
}

// DialContext resolves and dials. The check runs between the two, for every address that
// the system is about to connect to, so that a second lookup (DNS rebinding) cannot
// change the result.
func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fault.New(fault.Invalid, "address %q has no port", address)
	}
	base := net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Resolver: d.resolver}
	base.ControlContext = func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return fault.New(fault.Invalid, "address %q is not dialed", resolved)
		}
		return d.check(host, to.Addr())
	}
	return base.DialContext(ctx, network, address)
}

// transports makes one connection pool per rule: a connection that was dialed under one
// is never used under another.
func (c *Client) transports(resolver *net.Resolver) {
	c.resolver = resolver
	c.secure = newTransport(dialer{check: c.checkSecure, resolver: resolver}, c.options.TLS)
	c.plain = newTransport(dialer{check: c.checkPlain, resolver: resolver}, nil)
	c.proxied = newTransport(dialer{check: permitProxy, resolver: resolver}, c.options.TLS)
	c.proxied.Proxy = c.mustProxy
}

// DialContext opens a connection for a protocol other than HTTP, such as SSH, to an
// address that the guard permits. It has no rate limit.
func (c *Client) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := dialer{check: c.checkSecure}.DialContext(ctx, network, address)
	if err != nil {
		return nil, fault.Wrap(kindOfFailure(err), err)
	}
	return conn, nil
}

// DialListedContext is DialContext for a protocol without encryption: only for addresses that the
// operator listed.
func (c *Client) DialListedContext(ctx context.Context, network, address string) (net.Conn, error) {
	check := func(host string, addr netip.Addr) error {
		if addr = plainAddress(addr); c.guard.listed(addr) {
			return nil
		}
		return fault.New(fault.Invalid, "%s: address %s is refused without TLS: it must be in `networks` of the server file", host, addr)
	}
	conn, err := dialer{check: check}.DialContext(ctx, network, address)
	if err != nil {
		return nil, fault.Wrap(kindOfFailure(err), err)
	}
	return conn, nil
}

func newTransport(d dialer, trust *tls.Config) *http.Transport {
	if trust == nil {
		trust = &tls.Config{}
	}
	trust = trust.Clone()
	trust.MinVersion = tls.VersionTLS12
	return &http.Transport{
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        trust,
		TLSHandshakeTimeout:    tlsTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		ExpectContinueTimeout:  expectedTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    idlePerHost,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

func (c *Client) checkSecure(host string, addr netip.Addr) error {
	if err := c.guard.check(addr); err != nil {
		return fault.New(fault.Invalid, "%s: %w", host, err)
	}
	return nil
}

// checkPlain permits plain HTTP to the machine itself if a user runs the command there,
// and to a host that is listed as insecure at an address that is listed too. A listed
// name that resolves to the internet is refused.
func (c *Client) checkPlain(host string, addr netip.Addr) error {
	addr = plainAddress(addr)
	if c.options.AllowLoopback && addr.IsLoopback() {
		return nil
	}
	if c.insecureName(host) && c.guard.listed(addr) {
		return nil
	}
	return fault.New(fault.Invalid, "%s: plain http to address %s is refused: "+
		"the host must be marked insecure and the address must be in `networks` of the server file", host, addr)
}

// traced makes a request report to its host which address it is sent to. The address behind
// a proxy is unknown.
func (c *Client) traced(ctx context.Context, h *host, via http.RoundTripper) context.Context {
	if via == http.RoundTripper(c.proxied) {
		return ctx
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if to, ok := got.Conn.RemoteAddr().(*net.TCPAddr); ok {
			addr := plainAddress(to.AddrPort().Addr())
			h.reached(h.now(), addr.IsLoopback() || c.guard.listed(addr))
		}
	}})
}

// insecureName reports whether a host was listed with any port; the port of the request
// was checked before the dial.
func (c *Client) insecureName(host string) bool {
	host = strings.ToLower(host)
	for listed := range c.insecure {
		if Hostname(listed) == host {
			return true
		}
	}
	return false
}

// permitProxy permits the proxy at any address: it comes from the environment of the
// process, not from a repository.
func permitProxy(string, netip.Addr) error { return nil }

// mustProxy returns the proxy and never none: without one the connection would go
// directly to the host through a dialer that checks nothing.
func (c *Client) mustProxy(req *http.Request) (*url.URL, error) {
	proxy, err := c.options.Proxy(req)
	if err == nil && proxy == nil {
		err = fault.New(fault.Invalid, "no proxy for %s", req.URL.Host)
	}
	return proxy, err
}

// checkBehindProxy does for a proxied request what the dialer does for others, as far as
// that is possible here: an address in the URL, and every address that the name resolves
// to, must be permitted. A name that does not resolve here is left to the proxy.
func (c *Client) checkBehindProxy(ctx context.Context, host string) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		return c.checkSecure(host, addr)
	}
	addrs, err := c.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return ctx.Err()
	}
	for _, addr := range addrs {
		if err := c.checkSecure(host, addr); err != nil {
			return err
		}
	}
	return nil
}
