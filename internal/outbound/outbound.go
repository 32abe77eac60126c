// Package outbound is the HTTP client for all other machines.
//
// A Client prevents what a config file could make a server do. It dials no loopback,
// link-local, private or otherwise special address, on the first request as on every
// redirect. It checks the address that is actually dialed, so a name that resolves
// differently the second time gains nothing. It uses HTTPS, and plain HTTP only where
// the operator permits it. It limits the requests to each host, retries what is safe to
// retry, waits as long as a server asks, and returns errors without credentials.
//
// It does not decide what a request means, and holds no credential.
package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"promoter/internal/fault"
)

// Options configure where a Client may go and how fast.
type Options struct {
	// Networks are the private networks that may be dialed.
	Networks []netip.Prefix
	// AllowLoopback permits the machine itself, over plain HTTP too. Only for commands
	// that a user runs on their own machine.
	AllowLoopback bool
	// Insecure names the hosts (host or host:port) that may use plain HTTP if their
	// address is in Networks.
	Insecure []string
	// Proxy selects the proxy of a request, like http.ProxyFromEnvironment. Nil: no
	// proxy. Plain HTTP never uses one.
	Proxy func(*http.Request) (*url.URL, error)
	// RateLimit is that of each host.
	RateLimit RateLimit
	// RateLimitOf returns the limit of one host (host or host:port). Nil: RateLimit.
	RateLimitOf func(host string) RateLimit
	// TLS configures trust over HTTPS. Nil: the system's authorities. Only for commands
	// that call a promoter service; forges and registries use the system's.
	TLS *tls.Config
	// Timeout bounds a request with its retries, waits and body, from the moment that it
	// is admitted to its host. Zero: one minute.
	Timeout time.Duration
	// MaxWait is the longest time that a request waits for a rate limit or because a
	// server asks for it. Longer waits are a RateLimited fault with the time. Zero: ten
	// seconds.
	MaxWait time.Duration
	// Attempts is how often a request is sent at most. Zero: three.
	Attempts int
	// Observe is called for every request that was sent, with the context of the
	// request; retries are separate requests. May be nil.
	Observe func(context.Context, Exchange)
	// Now is the clock.
	Now func() time.Time
}

// The defaults of Options.
const (
	defaultTimeout  = time.Minute
	defaultMaxWait  = 10 * time.Second
	defaultAttempts = 3
)

// Client is a guarded http.RoundTripper, safe for many goroutines.
type Client struct {
	options  Options
	insecure map[string]bool
	guard    guard
	hosts    *hosts
	resolver *net.Resolver

	secure  *http.Transport
	plain   *http.Transport
	proxied *http.Transport
}

// New makes a Client. Options.Now is required.
func New(options Options) (*Client, error) {
	if options.Now == nil {
		return nil, errors.New("outbound: a client needs a clock")
	}
	if options.Timeout <= 0 {
		options.Timeout = defaultTimeout
	}
	if options.MaxWait <= 0 {
		options.MaxWait = defaultMaxWait
	}
	if options.Attempts <= 0 {
		options.Attempts = defaultAttempts
	}
	if options.Observe == nil {
		options.Observe = func(context.Context, Exchange) {}
	}
	if options.RateLimitOf == nil {
		options.RateLimitOf = func(string) RateLimit { return options.RateLimit }
	}
	c := &Client{
		options:  options,
		insecure: map[string]bool{},
		guard:    guard{networks: options.Networks, loopback: options.AllowLoopback},
		hosts:    newHosts(options.RateLimitOf, options.MaxWait, options.Now),
	}
	for _, host := range options.Insecure {
		c.insecure[strings.ToLower(host)] = true
	}
	c.transports(net.DefaultResolver)
	return c, nil
}

// Insecure reports whether the operator listed the host for plain HTTP.
func (c *Client) Insecure(host string) bool {
	host = strings.ToLower(host)
	return c.insecure[host] || c.insecure[Hostname(host)]
}

// CloseIdleConnections closes unused connections.
func (c *Client) CloseIdleConnections() {
	c.secure.CloseIdleConnections()
	c.plain.CloseIdleConnections()
	c.proxied.CloseIdleConnections()
}

// RoundTrip sends a request within the guard, the rate limit of its host and the
// timeout. It does not change the request.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.admitted(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, redactFor(req, err)
	}
	resp.Request = req
	redactResponse(req, resp)
	return resp, nil
}

// admitted waits for a slot at the host, sends the request and checks the response. The
// end of the body releases the slot.
func (c *Client) admitted(req *http.Request) (*http.Response, error) {
	host := c.hosts.of(req.URL.Host)
	if err := host.enter(req.Context()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.options.Timeout)
	done := func() { cancel(); host.leave() }
	resp, err := c.send(ctx, req, host)
	if err != nil {
		done()
		return nil, err
	}
	resp.Body = newBody(ctx, host.name, resp.Body, bodyTimeout, cancel, done)
	return resp, nil
}

// send sends a copy of the request under a context.
func (c *Client) send(ctx context.Context, req *http.Request, host *host) (*http.Response, error) {
	via, err := c.transportFor(ctx, req)
	if err != nil {
		return nil, err
	}
	req = req.Clone(c.traced(ctx, host, via))
	dropForeignCredentials(req)
	resp, err := c.attempt(req, host, via)
	if err != nil {
		return nil, err
	}
	if err := checkLocation(resp); err != nil {
		discard(resp)
		return nil, err
	}
	return resp, nil
}

// transportFor refuses a request that may not be sent, or returns its transport.
func (c *Client) transportFor(ctx context.Context, req *http.Request) (http.RoundTripper, error) {
	if err := checkRedirects(req); err != nil {
		return nil, err
	}
	switch req.URL.Scheme {
	case "https":
	case "http":
		if !c.options.AllowLoopback && !c.Insecure(req.URL.Host) {
			return nil, fault.New(fault.Invalid,
				"plain http to %s is refused: only a host that the server file marks insecure, at an address in its networks, "+
					"may be used without TLS", req.URL.Host)
		}
		return c.plain, nil
	default:
		return nil, fault.New(fault.Invalid, "scheme %q is refused: only https is supported", req.URL.Scheme)
	}
	if c.options.Proxy == nil {
		return c.secure, nil
	}
	proxy, err := c.options.Proxy(req)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the proxy setting for %s is not a URL", req.URL.Host)
	}
	if proxy == nil {
		return c.secure, nil
	}
	return c.proxied, c.checkBehindProxy(ctx, req.URL.Hostname())
}

// Host returns the host of a URL, with its port if it has one. It is empty for text that
// is not a URL.
func Host(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return parsed.Host
}

// Hostname returns a host without its port.
func Hostname(host string) string { return (&url.URL{Host: host}).Hostname() }

// IsLoopback reports whether a host without its port is this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
