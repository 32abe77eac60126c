package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

const (
	// maxRedirects is how many redirects the first request of a session follows.
	maxRedirects = 5

	// infoRefs is the path of the first request, below that of the repository.
	infoRefs = "/info/refs"

	// tokenUser is the user name for a token if the credential has none.
	tokenUser = "x-access-token"
)

// httpTransport makes two independent requests, one for the references and one for
// the rest.
type httpTransport struct {
	client     http.Client
	base       string // URL of the repository, after redirects
	service    Service
	credential Credential
	left       bool // a redirect left the host: the credential is not sent
	now        func() time.Time
	bodies     []io.Closer
}

func newHTTP(e Endpoint, service Service, credential Credential) *httpTransport {
	h := &httpTransport{
		client: *e.remote.HTTP, base: strings.TrimSuffix(e.String(), "/"),
		service: service, credential: credential, now: e.remote.Now,
	}
	h.client.CheckRedirect = h.checkRedirect
	return h
}

// checkRedirect follows redirects of the first request, as Git does by default. It
// drops the credential as soon as a redirect leaves its host, for the rest of the
// session: a redirect back may come from the other host.
func (h *httpTransport) checkRedirect(request *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case request.Method != http.MethodGet || via[0].Method != http.MethodGet:
		return fault.New(fault.Invalid, "%s redirects a POST request, which is refused", first.Host)
	case len(via) > maxRedirects:
		return fault.New(fault.Invalid, "%s redirects more than %d times", first.Host, maxRedirects)
	case first.Scheme == "https" && request.URL.Scheme != "https":
		return fault.New(fault.Invalid, "%s redirects to plain http, which is refused", first.Host)
	}
	if request.URL.Host != first.Host || request.URL.Scheme != first.Scheme {
		h.left = true
	}
	if h.left {
		request.Header.Del("Authorization")
	}
	return nil
}

func (h *httpTransport) advertisement(ctx context.Context) (io.Reader, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.base+infoRefs+"?service="+string(h.service), nil)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the URL of the Git repository cannot be requested")
	}
	response, err := h.send(request, "application/x-"+string(h.service)+"-advertisement") //nolint:bodyclose // by Close
	if err != nil {
		return nil, err
	}
	reached := response.Request.URL
	path, found := strings.CutSuffix(reached.Path, infoRefs)
	if !found {
		return nil, fault.New(fault.Invalid, "%s redirects to a URL that is not a Git repository", request.URL.Host)
	}
	h.base = (&url.URL{Scheme: reached.Scheme, Host: reached.Host, Path: path}).String()
	return response.Body, nil
}

func (h *httpTransport) exchange(ctx context.Context, body []byte) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.base+"/"+string(h.service), bytes.NewReader(body))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the URL of the Git repository cannot be requested")
	}
	request.Header.Set("Content-Type", "application/x-"+string(h.service)+"-request")
	response, err := h.send(request, "application/x-"+string(h.service)+"-result")
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// send sends a request and returns the response if it is of the Git protocol. A password that was
// refused is read again once: its file may have been replaced.
func (h *httpTransport) send(request *http.Request, want string) (*http.Response, error) {
	request.Header.Set("Accept", want)
	request.Header.Set("User-Agent", "git/"+agent) // some forges look for "git"
	used := h.authorize(request)
	response, err := h.client.Do(request)
	if err == nil && response.StatusCode == http.StatusUnauthorized && !h.left && h.credential.Password.Renewed(used) {
		_ = response.Body.Close()
		if request.GetBody != nil { // bytes.Reader has it
			request.Body, _ = request.GetBody()
		}
		h.authorize(request)
		response, err = h.client.Do(request)
	}
	if err != nil {
		return nil, connectionError(err)
	}
	h.bodies = append(h.bodies, response.Body)
	if response.StatusCode != http.StatusOK {
		return nil, h.statusError(response)
	}
	if got, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); got != want {
		return nil, fault.New(fault.Invalid,
			"%s responded with %.60q: there is no Git repository at this URL", response.Request.URL.Host, got)
	}
	return response, nil
}

// authorize adds the credential to a request, and returns the password that it used; empty: none.
func (h *httpTransport) authorize(request *http.Request) (used string) {
	c := h.credential
	switch {
	case h.left:
		return ""
	case !c.Bearer.IsZero():
		request.Header.Set("Authorization", "Bearer "+c.Bearer.Reveal())
		return ""
	case c.Password.IsZero():
		return ""
	}
	used = c.Password.Reveal()
	request.SetBasicAuth(cmp.Or(c.User, tokenUser), used)
	return used
}

// connectionError gives the error of a request without a response its kind.
func connectionError(err error) error {
	if fault.KindOf(err) == fault.Internal {
		err = fault.Wrap(fault.Temporary, err)
	}
	return outbound.Redact(err)
}

// statusError returns the error of a status other than 200.
func (h *httpTransport) statusError(response *http.Response) error {
	var text serverText
	_, _ = io.Copy(&text, io.LimitReader(response.Body, maxServerText)) // the status is enough
	message := ""
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/plain" && text.String() != "" {
		message = ": " + text.String()
	}
	header, kind := response.Header, fault.Invalid
	switch code := response.StatusCode; {
	case code == http.StatusTooManyRequests,
		code == http.StatusForbidden && (header.Get("Retry-After") != "" || header.Get("X-RateLimit-Remaining") == "0"):
		kind = fault.RateLimited
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		kind = fault.Unauthorized
	case code == http.StatusNotFound, code == http.StatusGone:
		kind = fault.NotFound
	case code == http.StatusRequestTimeout, code >= http.StatusInternalServerError:
		kind = fault.Temporary
	}
	err := fault.New(kind, "the server responded with status %d%s", response.StatusCode, message)
	if kind == fault.RateLimited {
		return fault.Limited(h.retryAt(header), err)
	}
	return err
}

// retryAt returns the time of a rate limit's end; zero if the server does not say.
func (h *httpTransport) retryAt(header http.Header) time.Time {
	after := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(after, 10, 31); err == nil && h.now != nil {
		return h.now().Add(time.Duration(seconds) * time.Second)
	}
	if at, err := http.ParseTime(after); err == nil {
		return at
	}
	if reset, err := strconv.ParseUint(header.Get("X-RateLimit-Reset"), 10, 40); err == nil {
		return time.Unix(int64(reset), 0) //nolint:gosec // forty bits
	}
	return time.Time{}
}

func (h *httpTransport) explain(_ context.Context, err error) error { return classify(err) }

// Close closes the bodies of all responses.
func (h *httpTransport) Close() error {
	var errs []error
	for _, body := range h.bodies {
		errs = append(errs, body.Close())
	}
	return errors.Join(errs...)
}
