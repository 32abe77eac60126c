package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// Call is one step of a login, for example an STS request. It is the transport of a
// vendor's library for that step.
//
// A response other than 200 or 201 becomes an error with a kind, the service's error
// code and advice. The Call keeps that error, because libraries drop or rephrase
// transport errors: Failure returns it.
type Call struct {
	ctx     context.Context //nolint:containedctx // some libraries send requests without one
	machine Machine
	name    string // begins each error
	advice  string // what to do when the service refuses the request
	local   bool

	sent    atomic.Bool
	failure atomic.Pointer[error]
}

// Call begins a step that calls a service of a cloud over HTTPS. Its requests end
// with ctx.
func (m Machine) Call(ctx context.Context, name, advice string) *Call {
	return &Call{ctx: ctx, machine: m, name: name, advice: advice}
}

// LocalCall begins a step that calls a service of the machine itself: over plain
// HTTP at one of MetadataHosts, or over HTTPS anywhere.
func (m Machine) LocalCall(ctx context.Context, name, advice string) *Call {
	return &Call{ctx: ctx, machine: m, name: name, advice: advice, local: true}
}

// Client returns a client for a vendor's library.
func (c *Call) Client() *http.Client { return &http.Client{Transport: c} }

// Sent reports whether a request was sent.
func (c *Call) Sent() bool { return c.sent.Load() }

// Failure explains the error of a library. The error itself is not shown: it may
// contain what was sent or received.
func (c *Call) Failure(err error) error {
	failure := c.failure.Load()
	switch {
	case err == nil:
		return nil
	case failure != nil:
		return *failure
	case c.ctx.Err() != nil:
		return fault.Wrap(fault.Temporary, c.ctx.Err())
	case c.Sent():
		return c.unreadable()
	}
	return fault.New(fault.Invalid, "%s: the settings are not valid", c.name)
}

func (c *Call) unreadable() error {
	return fault.New(fault.Temporary, "%s: the response is not valid", c.name)
}

// Get sends a GET request.
func (c *Call) Get(address string, header map[string]string) (Response, error) {
	return c.send(http.MethodGet, address, header, "")
}

// PostForm sends a form.
func (c *Call) PostForm(address string, form url.Values) (Response, error) {
	return c.send(http.MethodPost, address, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, form.Encode())
}

func (c *Call) send(method, address string, header map[string]string, body string) (Response, error) {
	req, err := http.NewRequestWithContext(c.ctx, method, address, nil)
	if err != nil {
		return Response{}, fault.New(fault.Invalid, "%s: the address is not a URL", c.name)
	}
	if body != "" {
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	req.Header.Set("User-Agent", "promoter")
	resp, err := c.RoundTrip(req)
	if err != nil {
		return Response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return Response{}, c.Failure(err)
	}
	return Response{call: c, Body: data, Header: resp.Header}, nil
}

// Response is a successful response.
type Response struct {
	call   *Call
	Body   []byte
	Header http.Header
}

// Decode decodes a JSON response.
func (r Response) Decode(into any) error {
	if err := json.Unmarshal(r.Body, into); err != nil {
		return r.call.unreadable()
	}
	return nil
}

// maxResponse bounds a response; the largest tokens have some tens of kilobytes.
const maxResponse = 1 << 20

// RoundTrip implements http.RoundTripper. It follows no redirect: a token service
// has no reason to send one.
func (c *Call) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.roundTrip(req)
	if err != nil {
		c.failure.Store(&err)
	}
	return resp, err
}

func (c *Call) roundTrip(req *http.Request) (*http.Response, error) {
	through, err := c.transport(req.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	defer context.AfterFunc(req.Context(), cancel)()
	c.sent.Store(true)

	//nolint:contextcheck // derived from the context of the call, canceled with the request
	resp, err := through.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, c.unanswered(err)
	}
	body, err := outbound.ReadAll(resp.Body, maxResponse)
	_ = resp.Body.Close()
	if err != nil {
		return nil, c.unanswered(err)
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
		return nil, c.refused(resp.StatusCode, body)
	}
	resp.Body, resp.Request = io.NopCloser(bytes.NewReader(body)), req
	return resp, nil
}

// transport selects the transport for an address, or refuses the address.
func (c *Call) transport(to *url.URL) (http.RoundTripper, error) {
	switch {
	case to.Host == "" || to.User != nil:
		return nil, fault.New(fault.Invalid, "%s: the address is not a URL of a service", c.name)
	case to.Scheme == "https":
		return c.machine.Vendor, nil
	case !c.local:
		return nil, fault.New(fault.Invalid, "%s: the services of a cloud are called only over HTTPS", c.name)
	case to.Scheme != "http" || !slices.Contains(MetadataHosts(c.machine.Env), to.Host):
		return nil, fault.New(fault.Invalid,
			"%s: %s is not a service of this machine, so it is not called over plain HTTP", c.name, to.Host)
	}
	return c.machine.Metadata, nil
}

// unanswered keeps the kind and the retry time of a transport error.
func (c *Call) unanswered(err error) error {
	err = fmt.Errorf("%s: %w", c.name, outbound.Redact(err))
	if fault.KindOf(err) == fault.Internal {
		return fault.Wrap(fault.Temporary, err)
	}
	return err
}

// refused explains a status. Of the body only an error code is shown: the rest may
// contain what was sent.
func (c *Call) refused(status int, body []byte) error {
	text := http.StatusText(status)
	if code := errorCode(body); code != "" {
		text = code
	}
	switch {
	case status == http.StatusTooManyRequests || strings.Contains(text, "Throttl"):
		return fault.New(fault.RateLimited, "%s: %d %s", c.name, status, text)
	case status >= 500 || status == http.StatusRequestTimeout:
		return fault.New(fault.Temporary, "%s: %d %s", c.name, status, text)
	case status >= 300 && status < 400:
		return fault.New(fault.Invalid, "%s: the service redirects, which is not followed", c.name)
	}
	return fault.New(fault.Unauthorized, "%s: %d %s: %s", c.name, status, text, c.advice)
}

var (
	xmlCode   = regexp.MustCompile(`<Code>([A-Za-z0-9._-]+)</Code>`)
	validCode = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
)

const maxCode = 64 // bytes of an error code

// errorCode returns the error code of a response. Services write it in JSON as
// "error" (Google also as error.status), "__type" (AWS, with a namespace before #),
// "code" or "errors" (registries), and in XML as Code.
func errorCode(body []byte) string {
	if found := xmlCode.FindSubmatch(body); found != nil && len(found[1]) <= maxCode {
		return string(found[1])
	}
	var known struct {
		Error  json.RawMessage `json:"error"`
		Type   string          `json:"__type"`
		Code   string          `json:"code"`
		Errors []struct {
			Code string `json:"code"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &known) != nil {
		return ""
	}
	var text string
	var nested struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(known.Error, &text) != nil && json.Unmarshal(known.Error, &nested) == nil {
		text = nested.Status
	}
	candidates := []string{text, known.Type[strings.LastIndex(known.Type, "#")+1:], known.Code}
	if len(known.Errors) > 0 {
		candidates = append(candidates, known.Errors[0].Code)
	}
	for _, candidate := range candidates {
		if len(candidate) <= maxCode && validCode.MatchString(candidate) {
			return candidate
		}
	}
	return ""
}
