package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// maxRedirects is how many redirects the first request of a session follows.
const maxRedirects = 5

// infoRefs is the path of the first request, below that of the repository.
const infoRefs = "/info/refs"

// httpWire is a session over HTTP: a request for the references, and one for the
// rest, each complete in itself.
type httpWire struct {
	client     http.Client
	base       string // where the repository is, after redirects
	asked      service
	credential Credential
	now        func() time.Time
	open       []io.Closer
}

func newHTTPWire(r Remote, remote address, asked service, credential Credential) *httpWire {
	w := &httpWire{
		client: *r.HTTP, base: strings.TrimSuffix(remote.String(), "/"),
		asked: asked, credential: credential, now: r.Now,
	}
	w.client.CheckRedirect = w.follow
	return w
}

// follow lets the first request be redirected, as Git does by default, and takes
// the credential off it when it leaves the host that the credential is for. It
// stays off: a redirect that leads back may be an answer of the other host.
func (w *httpWire) follow(request *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case request.Method != http.MethodGet || via[0].Method != http.MethodGet:
		return fault.New(fault.Invalid, "%s redirects what is sent to it, which is refused", first.Host)
	case len(via) > maxRedirects:
		return fault.New(fault.Invalid, "%s redirects more than %d times", first.Host, maxRedirects)
	case first.Scheme == "https" && request.URL.Scheme != "https":
		return fault.New(fault.Invalid, "%s redirects to plain http, which is refused", first.Host)
	}
	if request.URL.Host != first.Host || request.URL.Scheme != first.Scheme {
		w.credential = Credential{}
	}
	if w.credential == (Credential{}) {
		request.Header.Del("Authorization")
	}
	return nil
}

func (w *httpWire) advertisement(ctx context.Context) (io.Reader, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+infoRefs+"?service="+string(w.asked), nil)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the URL of the Git repository cannot be asked")
	}
	response, err := w.send(request, "application/x-"+string(w.asked)+"-advertisement") //nolint:bodyclose // with the wire
	if err != nil {
		return nil, err
	}
	reached := *response.Request.URL
	path, found := strings.CutSuffix(reached.Path, infoRefs)
	if !found {
		return nil, fault.New(fault.Invalid, "%s redirects to what is no Git repository", request.URL.Host)
	}
	reached.Path, reached.RawPath, reached.RawQuery, reached.User = path, "", "", nil
	w.base = reached.String()
	return boundedAdvertisement(response.Body), nil
}

func (w *httpWire) exchange(ctx context.Context, asked []byte) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.base+"/"+string(w.asked), bytes.NewReader(asked))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the URL of the Git repository cannot be asked")
	}
	request.Header.Set("Content-Type", "application/x-"+string(w.asked)+"-request")
	response, err := w.send(request, "application/x-"+string(w.asked)+"-result")
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// send sends a request and sees to it that the answer is Git's.
func (w *httpWire) send(request *http.Request, want string) (*http.Response, error) {
	request.Header.Set("Accept", want)
	request.Header.Set("User-Agent", "git/"+agent) // some forges look for the word git
	w.authorize(request)
	response, err := w.client.Do(request)
	if err != nil {
		return nil, failed(err)
	}
	w.open = append(w.open, response.Body)
	if response.StatusCode != http.StatusOK {
		return nil, w.refused(response)
	}
	if got, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); got != want {
		return nil, fault.New(fault.Invalid, "%s answers with %.60q: there is no Git repository at this URL", response.Request.URL.Host, got)
	}
	return response, nil
}

// basicUser is the user beside a token, where none is given.
const basicUser = "x-access-token"

func (w *httpWire) authorize(request *http.Request) {
	switch c := w.credential; {
	case !c.Bearer.IsZero():
		request.Header.Set("Authorization", "Bearer "+c.Bearer.Reveal())
	case !c.Password.IsZero() && c.User == "":
		request.SetBasicAuth(basicUser, c.Password.Reveal())
	case !c.Password.IsZero():
		request.SetBasicAuth(c.User, c.Password.Reveal())
	}
}

// failed gives the error of a request without an answer a kind.
func failed(err error) error {
	if fault.KindOf(err) == fault.Internal {
		err = fault.Wrap(fault.Temporary, err)
	}
	return outbound.Redact(err) //nolint:wrapcheck // the callers say what for
}

// refused makes an error of a status.
func (w *httpWire) refused(response *http.Response) error {
	var said words
	_, _ = io.Copy(&said, io.LimitReader(response.Body, maxWords)) // what cannot be read is not said
	text := ""
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/plain" && said.String() != "" {
		text = ": " + said.String()
	}
	err := fault.New(kindOfStatus(response), "the server answers %d%s", response.StatusCode, text)
	if fault.KindOf(err) == fault.RateLimited {
		return fault.Limited(w.retryAt(response.Header), err)
	}
	return err
}

// kindOfStatus says what may be done about a status.
func kindOfStatus(response *http.Response) fault.Kind {
	header := response.Header
	switch code := response.StatusCode; {
	case code == http.StatusTooManyRequests,
		code == http.StatusForbidden && (header.Get("Retry-After") != "" || header.Get("X-RateLimit-Remaining") == "0"):
		return fault.RateLimited
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fault.Unauthorized
	case code == http.StatusNotFound, code == http.StatusGone:
		return fault.NotFound
	case code == http.StatusRequestTimeout, code >= http.StatusInternalServerError:
		return fault.Temporary
	}
	return fault.Invalid
}

// retryAt returns the time that a server asks to wait until; zero when it names
// none.
func (w *httpWire) retryAt(header http.Header) time.Time {
	after := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(after, 10, 31); err == nil && w.now != nil {
		return w.now().Add(time.Duration(seconds) * time.Second)
	}
	if at, err := http.ParseTime(after); err == nil {
		return at
	}
	if reset, err := strconv.ParseUint(header.Get("X-RateLimit-Reset"), 10, 40); err == nil {
		return time.Unix(int64(reset), 0) //nolint:gosec // forty bits
	}
	return time.Time{}
}

func (w *httpWire) explain(_ context.Context, err error) error { return said(err) }

// Close closes the bodies of all answers.
func (w *httpWire) Close() error {
	var errs []error
	for _, body := range w.open {
		errs = append(errs, body.Close())
	}
	return errors.Join(errs...)
}
