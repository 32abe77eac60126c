package adminapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"promoter/internal/api"
	"promoter/internal/certificate"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/delivery"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
	"promoter/internal/serverfile"
	"promoter/internal/view"
)

// Client sends the requests of a command to a running service.
type Client struct {
	base   string
	token  secret.String
	http   *http.Client
	stream *http.Client // without the time limit of a request
	advice string       // if no service answers
}

// tokenVariable is the token of the commands, instead of api.token of the server file.
const tokenVariable = "PROMOTER_API_TOKEN"

// Limits of a response, which is large for a service with many repositories. A decision may take
// 45 seconds.
const (
	timeout     = 60 * time.Second
	maxResponse = 32 << 20
)

// ClientOptions locate the service.
type ClientOptions struct {
	URL string // empty: the listen address of the server file, on this machine
	CA  string // a PEM file with more certificate authorities than those of the system
}

// NewClient returns the client for the service of a server file.
func NewClient(options serverfile.Options, location ClientOptions) (*Client, error) {
	s, token, err := open(options, location)
	if err != nil {
		return nil, err
	}
	return newClient(s, token, location)
}

// NewClientOf returns the client for the service that an open server file names: at its url, or at its listen address on
// this machine. It is nil without a server file or a token.
func NewClientOf(s *serverfile.Server, env func(string) (string, bool)) (*Client, error) {
	if s.File.File == "" {
		return nil, nil
	}
	text, _ := env(tokenVariable)
	token := secret.New(text)
	if text == "" {
		var err error
		if token, err = s.APIToken(); err != nil || token.IsZero() {
			return nil, err
		}
	}
	return newClient(s, token, ClientOptions{URL: s.File.URL})
}

func newClient(s *serverfile.Server, token secret.String, location ClientOptions) (*Client, error) {
	var err error
	c := &Client{base: strings.TrimRight(location.URL, "/"), token: token, advice: "is promoter serve running there?"}
	dial := outbound.Options{Networks: s.File.Networks, AllowLoopback: true, Timeout: timeout, Attempts: 1, Now: s.Now}
	if dial.TLS, err = s.Certificate().Trusted(location.URL, location.CA); err != nil {
		return nil, err
	}
	if location.URL == "" {
		c.base, dial.Networks = localAddress(s.File, dial.Networks)
		c.advice = "is promoter serve running on this machine? --url asks another one"
	} else if err := checkAddress(location.URL); err != nil {
		return nil, err
	}
	if c.http, err = newHTTP(dial); err != nil {
		return nil, err
	}
	dial.Timeout = maxStream
	c.stream, err = newHTTP(dial)
	return c, err
}

func newHTTP(dial outbound.Options) (*http.Client, error) {
	client, err := outbound.New(dial)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err)
	}
	return &http.Client{Transport: client}, nil
}

// open returns the server file, and the token to send. With a URL and a token of its own, a
// command needs no file.
func open(options serverfile.Options, location ClientOptions) (s *serverfile.Server, token secret.String, err error) {
	if text, set := options.Env(tokenVariable); set && text != "" {
		token = secret.New(text)
	}
	if location.URL != "" && !serverfile.HasFile(options) {
		if token.IsZero() {
			return nil, token, fault.New(fault.Invalid,
				"the service needs a token: set %s, or name a server file that has api.token with --config", tokenVariable)
		}
		s, err = serverfile.WithoutFile(options)
		return s, token, err
	}
	if s, err = serverfile.OpenFile(options); err != nil || !token.IsZero() {
		return s, token, err
	}
	if token, err = s.APIToken(); err == nil && token.IsZero() {
		err = fault.New(fault.Invalid,
			"%s has no api.token, so the service answers no command: write api: {token: env:NAME} and restart it, or set %s",
			s.File.File, tokenVariable)
	}
	return s, token, err
}

// localAddress returns where the service listens on this machine, and the networks that
// may be dialed for it.
func localAddress(file *serverconfig.Config, networks []netip.Prefix) (string, []netip.Prefix) {
	host, scheme := dialAddress(file.Listen), "http://"
	if file.TLS.On() {
		scheme = "https://"
	}
	if ip, err := netip.ParseAddr(outbound.Hostname(host)); err == nil {
		networks = append(slices.Clone(networks), netip.PrefixFrom(ip, ip.BitLen()))
	}
	return scheme + host, networks
}

// dialAddress returns the address to dial for a listen address of this machine.
func dialAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// checkAddress requires TLS where the token would leave the machine.
func checkAddress(address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.User != nil || parsed.RawQuery != "" {
		return fault.New(fault.Invalid, "--url is not the address of a service: write https://HOST")
	}
	if parsed.Scheme == "https" || parsed.Scheme == "http" && outbound.IsLoopback(parsed.Hostname()) {
		return nil
	}
	return fault.New(fault.Invalid, "--url %s: the token is sent over https, and without it only on this machine", parsed.Host)
}

// timeParameter is empty for the zero time.
func timeParameter(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// Status returns the state of the service.
func (c *Client) Status(ctx context.Context) (status api.Status, err error) {
	return status, c.get(ctx, "/status", nil, &status)
}

// History returns a page of the history.
func (c *Client) History(ctx context.Context, query api.HistoryQuery) (history api.History, err error) {
	return history, c.get(ctx, "/history", map[string]string{
		"repository": query.Repository, "environment": query.Environment, "application": query.Application,
		"component": query.Component, "after": query.After, "limit": strconv.Itoa(query.Limit), "since": timeParameter(query.Since),
	}, &history)
}

// Metrics returns the delivery metrics.
func (c *Client) Metrics(ctx context.Context, query delivery.Query) (report delivery.Report, err error) {
	return report, c.get(ctx, "/metrics", map[string]string{
		"repository": query.Repository, "environment": query.Environment, "application": query.Application,
		"label": query.Label, "by": string(query.By), "group": query.Group, "timeZone": query.TimeZone,
		"since": timeParameter(query.Since), "until": timeParameter(query.Until),
	}, &report)
}

// Applications returns a page of applications with what is in each of their environments.
func (c *Client) Applications(ctx context.Context, query view.ApplicationsQuery) (list view.Applications, err error) {
	return list, c.get(ctx, "/applications", map[string]string{
		"repository": query.Repository, "application": query.Application, "environment": query.Environment, "status": string(query.Status),
		"search": query.Search, "after": query.After, "limit": strconv.Itoa(query.Limit),
	}, &list)
}

// Where returns where the versions are that a text selects.
func (c *Client) Where(ctx context.Context, text string) (found view.Where, err error) {
	return found, c.get(ctx, "/where", map[string]string{"version": text}, &found)
}

// Decide records a decision.
func (c *Client) Decide(ctx context.Context, decision api.Decision) (decided api.Decided, err error) {
	return decided, c.call(ctx, http.MethodPost, "/decisions", decision, &decided)
}

// Reconcile requests that a repository is reconciled at once.
func (c *Client) Reconcile(ctx context.Context, repository string) (reconciling api.Reconciling, err error) {
	return reconciling, c.call(ctx, http.MethodPost, "/repositories/"+url.PathEscape(repository)+"/reconcile", nil, &reconciling)
}

// Replay requests that a stored delivery is accepted again.
func (c *Client) Replay(ctx context.Context, request api.Replay) (replayed api.Replayed, err error) {
	return replayed, c.call(ctx, http.MethodPost, "/replay", request, &replayed)
}

// ErrNoService is the error of a request to an address where nothing listens.
var ErrNoService = errors.New("no service answers")

// get requests a resource with the parameters that are not empty.
func (c *Client) get(ctx context.Context, path string, parameters map[string]string, into any) error {
	return c.call(ctx, http.MethodGet, api.PathWith(path, parameters), nil, into)
}

func (c *Client) call(ctx context.Context, method, path string, body, into any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+api.Prefix+path, bytes.NewReader(encoded))
	if err != nil {
		return fault.Wrap(fault.Invalid, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fault.New(fault.Temporary, "%w at %s: %s", ErrNoService, c.base, c.advice)
	}
	if err != nil {
		return certificate.ExplainError(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	data, err := outbound.ReadAll(response.Body, maxResponse)
	if err != nil {
		return err
	}
	return c.decode(response.StatusCode, data, into)
}

// decode decodes a response. The message of an error is that of the service.
func (c *Client) decode(status int, data []byte, into any) error {
	if status == http.StatusOK {
		if err := json.Unmarshal(data, into); err != nil {
			return fault.New(fault.Invalid, "what answers at %s is no promoter", c.base)
		}
		return nil
	}
	var refusal api.Problem
	_ = json.Unmarshal(data, &refusal) // the page of a proxy is not JSON
	switch {
	case status == http.StatusUnauthorized:
		return fault.New(fault.Unauthorized, "the service at %s wants another api.token", c.base)
	case status == http.StatusNotFound && (refusal.Detail == "" || refusal.Detail == "Not Found"):
		return fault.New(fault.NotFound, "the service at %s has no API: write api.token into its file and restart it", c.base)
	case refusal.Detail != "" && status < http.StatusInternalServerError:
		return fault.New(fault.Invalid, "%s", refusal.Detail)
	case status < http.StatusInternalServerError:
		return fault.New(fault.Invalid, "what answers at %s with %d is no promoter, or it wants https:// in --url", c.base, status)
	}
	return fault.New(fault.Temporary, "the service at %s answered %d; see its log for the reason", c.base, status)
}

// maxStream is how long one stream of changes stays open before it is opened again.
const maxStream = time.Hour

// Changes calls changed when the service starts to report changes, and after each
// reconciliation of a repository that the token may read. It returns when the stream ends,
// which is no error if the service closed it. The service sends something every 15 seconds;
// a stream that is silent for longer ends with an error.
func (c *Client) Changes(ctx context.Context, changed func()) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+api.Prefix+"/changes", http.NoBody)
	if err != nil {
		return fault.Wrap(fault.Invalid, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	response, err := c.stream.Do(request)
	if err != nil {
		return certificate.ExplainError(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		return fault.New(fault.NotFound, "the service at %s reports no changes", c.base)
	}
	changed()
	return eachEvent(response.Body, changed)
}

// eachEvent calls a function for each server-sent event with data.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func eachEvent(stream io.Reader, event func()) error {
	data := false
	lines := bufio.NewScanner(stream)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "data:"):
			data = true
		case line == "" && data:
			event()
			data = false
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Wrap(fault.Temporary, err)
	}
	return nil
}
