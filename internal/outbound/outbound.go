// Package outbound is the one way of promoter to other machines over HTTP.
//
// A Client refuses what a config file of a stranger could make a server do:
// it dials no loopback, link-local, private or otherwise special address, on
// the first request as on every redirect, and it looks at the address that is
// really dialled, so a name that changes its mind between two look-ups gains
// nothing. It speaks https, and plain http only where the operator said so.
// It keeps a budget for each host, repeats what is safe to repeat, waits as
// long as a server asks, and gives errors that hold no credential.
//
// It never decides what a request means, and never holds a credential.
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

// Options say where a Client may go and how fast.
type Options struct {
	// Networks are the private networks that may be dialled.
	Networks []netip.Prefix
	// AllowLoopback lets the machine itself be dialled, in plain http too. Only
	// for commands that a person runs on their own machine.
	AllowLoopback bool
	// Insecure names the hosts (host or host:port) that are spoken to in plain
	// http when their address lies in Networks.
	Insecure []string
	// Proxy chooses the proxy of a request, like http.ProxyFromEnvironment. Nil:
	// no proxy. Plain http never goes through one.
	Proxy func(*http.Request) (*url.URL, error)
	// Budget is what each host is asked at most.
	Budget Budget
	// BudgetOf gives a host (host or host:port) a budget of its own. Nil: every
	// host has Budget.
	BudgetOf func(host string) Budget
	// TLS says whom to trust over https. Nil: the authorities of the system. Only for
	// commands that ask a promoter; forges and registries are trusted as the system
	// says.
	TLS *tls.Config
	// Timeout bounds a request with its repetitions, its pauses and its body, from
	// the moment that it has a place at its host. Zero: one minute.
	Timeout time.Duration
	// MaxWait is the longest time that a request waits for a budget or because a
	// server asked for it; longer waits are a RateLimited fault with the time.
	// Zero: ten seconds.
	MaxWait time.Duration
	// Attempts is how often a request is sent at most. Zero: three.
	Attempts int
	// Observe is told of every request that was sent, repetitions included, with the
	// context of the request. Nil: nobody is.
	Observe func(context.Context, Answer)
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
	lookup   func(ctx context.Context, host string) ([]netip.Addr, error)

	secure  *http.Transport
	plain   *http.Transport
	proxied *http.Transport
}

// New makes a Client. Options.Now is required.
func New(options Options) (*Client, error) {
	if options.Now == nil {
		return nil, errors.New("outbound: a client needs a clock")
	}
	options = withDefaults(options)
	c := &Client{
		options:  options,
		insecure: map[string]bool{},
		guard:    guard{networks: options.Networks, loopback: options.AllowLoopback},
		hosts:    newHosts(options.BudgetOf, options.MaxWait, options.Now),
		lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
	}
	for _, host := range options.Insecure {
		c.insecure[strings.ToLower(host)] = true
	}
	c.transports(nil)
	return c, nil
}

func withDefaults(o Options) Options {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxWait <= 0 {
		o.MaxWait = defaultMaxWait
	}
	if o.Attempts <= 0 {
		o.Attempts = defaultAttempts
	}
	if o.Observe == nil {
		o.Observe = func(context.Context, Answer) {}
	}
	if o.BudgetOf == nil {
		o.BudgetOf = func(string) Budget { return o.Budget }
	}
	return o
}

// Insecure says that the operator listed the host for plain http.
func (c *Client) Insecure(host string) bool {
	host = strings.ToLower(host)
	return c.insecure[host] || c.insecure[hostname(host)]
}

// CloseIdleConnections closes connections that nobody uses.
func (c *Client) CloseIdleConnections() {
	c.secure.CloseIdleConnections()
	c.plain.CloseIdleConnections()
	c.proxied.CloseIdleConnections()
}

// RoundTrip sends a request under the guard, the budget of its host and the
// total timeout. It does not change the request.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.admitted(req)
	if err != nil {
		closeBody(req)
		return nil, redactFor(req, err)
	}
	resp.Request = req
	return resp, nil
}

// admitted checks the request, takes a place at its host and sends it. The
// place is given back with the end of the body.
func (c *Client) admitted(req *http.Request) (*http.Response, error) {
	host := c.hosts.of(req.URL.Host)
	if err := host.enter(req.Context()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.options.Timeout)
	done := func() { cancel(); host.leave() }
	resp, err := c.send(req.Clone(ctx), host)
	if err != nil {
		done()
		return nil, err
	}
	resp.Body = newBody(ctx, host.name, resp.Body, done)
	return resp, nil
}

func (c *Client) send(req *http.Request, host *host) (*http.Response, error) {
	route, err := c.route(req)
	if err != nil {
		return nil, err
	}
	dropForeignCredentials(req)
	resp, err := c.attempt(req, host, route)
	if err != nil {
		return nil, err
	}
	if err := checkLocation(resp); err != nil {
		discard(resp)
		return nil, err
	}
	return resp, nil
}

// route refuses a request that may not leave, or gives the transport for it.
func (c *Client) route(req *http.Request) (http.RoundTripper, error) {
	if err := checkRedirects(req); err != nil {
		return nil, err
	}
	switch req.URL.Scheme {
	case "https":
		return c.secureRoute(req)
	case "http":
		if !c.options.AllowLoopback && !c.Insecure(req.URL.Host) {
			return nil, fault.New(fault.Invalid, "plain http to %s is refused: only a host that the server's file marks insecure, at an address in its networks, is spoken to without TLS", req.URL.Host)
		}
		return c.plain, nil
	default:
		return nil, fault.New(fault.Invalid, "scheme %q is refused: only https is spoken", req.URL.Scheme)
	}
}

func (c *Client) secureRoute(req *http.Request) (http.RoundTripper, error) {
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
	return c.proxied, c.checkBehindProxy(req.Context(), req.URL.Hostname())
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// hostname takes the port off a host.
func hostname(host string) string {
	u := url.URL{Host: host}
	return u.Hostname()
}
