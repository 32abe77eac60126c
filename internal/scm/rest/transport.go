// Package rest holds what the adapters of REST forges share: an HTTP client that
// respects the forge's rate limits, error messages, pagination, and text truncation.
//
// The credential is sent only to the API's host and never appears in an error.
// Responses are bounded and cached with their ETags, per credential. After the forge
// requests a pause, no request is sent until it is over.
//
// The package is independent of any forge: differences are parameters.
package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"

	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// maxRedirects is the number of redirects to follow; forges send one after a rename.
const maxRedirects = 3

// NewClient returns the HTTP client of one forge. It adds the credential, which is sent only
// to the host of the endpoint, sends conditional requests for cached responses, and enforces
// the rate limits. From then on, state reports what the responses say.
func NewClient(to Connection, endpoint *url.URL, limits Limits, state *State) *http.Client {
	base := to.HTTP.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	limited := &gate{next: base, now: to.Now, pace: to.Pace, limits: limits}
	*state = State{host: endpoint.Host, gate: limited}
	return &http.Client{
		Transport:     &signer{next: newCache(limited), token: to.Token, endpoint: endpoint},
		CheckRedirect: checkRedirect,
		Timeout:       to.HTTP.Timeout,
	}
}

// checkRedirect follows renames on the same host with the same method: a write
// redirected as a GET would look like a success.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) > maxRedirects:
		return fault.New(fault.Temporary, "%s redirects more than %d times", first.URL.Host, maxRedirects)
	case !sameOrigin(req.URL, first.URL):
		return fault.New(fault.Invalid, "%s redirects to %s, which is refused: check the URL of the API", first.URL.Host, req.URL.Host)
	case req.Method != first.Method:
		return fault.New(fault.Conflict, "the repository was renamed or moved meanwhile")
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// signer adds the credential to requests to the API, and redacts it in errors.
type signer struct {
	next     http.RoundTripper
	token    func(ctx context.Context) (secret.String, error)
	endpoint *url.URL
}

// RoundTrip sends a copy of the request with the credential, and once more if that was refused and
// its file has another one by now.
func (s *signer) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := s.token(req.Context())
	if err != nil {
		closeBody(req)
		return nil, err
	}
	used := token.Reveal()
	resp, err := s.once(req, used)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || !token.Renewed(used) {
		return resp, err
	}
	again := req.Clone(req.Context())
	if req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return resp, nil
		}
		if again.Body, err = req.GetBody(); err != nil {
			closeResponse(resp)
			return nil, fault.Wrap(fault.Internal, err)
		}
	}
	closeResponse(resp)
	resp, err = s.once(again, token.Reveal())
	if err == nil {
		resp.Request = req
	}
	return resp, err
}

// once sends a copy of the request with a token; empty: without.
func (s *signer) once(req *http.Request, token string) (*http.Response, error) {
	signed := req.Clone(req.Context())
	signed.Header.Del("Authorization") // may have been set by a library
	if token != "" && sameOrigin(req.URL, s.endpoint) {
		signed.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := s.next.RoundTrip(signed)
	if err != nil {
		return nil, redact(err, token)
	}
	resp.Request = req
	if token != "" {
		redactResponse(resp, token)
	}
	return resp, nil
}

// redact replaces the credential in the text of an error, in case a server or a proxy
// echoed it in an invalid response.
func redact(err error, token string) error {
	if token == "" {
		return err
	}
	return outbound.Reworded(err, secret.Erase(err.Error(), token))
}

// redactResponse replaces the credential in the headers, such as Location, and in a body
// that the gate has already read, whatever the status.
func redactResponse(resp *http.Response, token string) {
	for name, values := range resp.Header {
		for i, value := range values {
			if erased := secret.Erase(value, token); erased != value {
				resp.Header[name] = slices.Clone(resp.Header[name]) // it may be that of a cached response
				resp.Header[name][i] = erased
			}
		}
	}
	data, _ := io.ReadAll(resp.Body) // from memory, which cannot fail
	setBody(resp, []byte(secret.Erase(string(data), token)))
}

func setBody(resp *http.Response, data []byte) {
	resp.Body = io.NopCloser(bytes.NewReader(data))
	resp.ContentLength = int64(len(data))
}

func closeResponse(resp *http.Response) { _ = resp.Body.Close() }

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

var errURL = errors.New("it must be https://HOST, or http:// where that is allowed, without user, query and fragment")

// WebURL parses the address of a forge or of its API.
func WebURL(raw string) (*url.URL, error) {
	parsed, err := url.Parse(raw)
	if err != nil {
		return nil, errURL // the error of net/url quotes the text, which may contain a password
	}
	web := parsed.Scheme == "https" || parsed.Scheme == "http"
	if !web || parsed.Host == "" || parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return nil, errURL
	}
	return parsed, nil
}
