package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// maxResponse limits what is read of a response, in bytes.
const maxResponse = 64 << 10

// poster sends JSON to one service.
type poster struct {
	service string // for errors, such as "Slack"
	client  *http.Client
	secrets []secret.String // that no error may show
}

// newPoster makes a poster. It follows no redirect: a message goes to the configured URL only.
func newPoster(service string, transport http.RoundTripper, secrets ...secret.String) poster {
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return poster{service: service, client: client, secrets: secrets}
}

// send sends a request with a JSON body, nil for none, and returns the body of a successful
// response.
func (p poster) send(ctx context.Context, method, address string, header http.Header, body any) ([]byte, error) {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, fault.Wrap(fault.Internal, err)
		}
	}
	return p.sendBytes(ctx, method, address, header, data)
}

func (p poster) sendBytes(ctx context.Context, method, address string, header http.Header, data []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(data))
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s: the address is not a URL", p.service) // the error quotes it
	}
	req.Header.Set("User-Agent", "promoter")
	if len(data) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, header)
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, p.failed(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := outbound.ReadAll(resp.Body, maxResponse)
	if err != nil {
		return nil, p.failed(err)
	}
	if resp.StatusCode/100 != 2 {
		return answer, fault.New(kindOf(resp.StatusCode), "%s responded %s%s", p.service, resp.Status, p.quoted(answer))
	}
	return answer, nil
}

// failed returns the error of a request. It keeps the kind and shows no secret; the text of
// *url.Error has the whole URL, which can be one.
func (p poster) failed(err error) error {
	kind, at := fault.KindOf(err), err
	if wrapped, ok := err.(*url.Error); ok { //nolint:errorlint // only the outermost adds the URL
		at = wrapped.Err
	}
	text := p.service + ": " + p.clean(at.Error())
	if retryAt, limited := fault.RetryAt(err); limited {
		return fault.Limited(retryAt, fault.New(kind, "%s", text))
	}
	if kind == fault.Internal { // an error of the client, not a bug
		kind = fault.Temporary
	}
	return fault.New(kind, "%s", text)
}

// quoted returns what a service said about an error.
func (p poster) quoted(answer []byte) string {
	if text := p.clean(string(answer)); text != "" {
		return ": " + text
	}
	return ""
}

// clean removes the secrets of the destination from a text that another machine may have sent. The
// path of a secret URL is as secret as the URL.
func (p poster) clean(text string) string {
	var hidden []string
	for _, s := range p.secrets {
		value := s.Reveal()
		hidden = append(hidden, value)
		if u, err := url.Parse(value); err == nil && len(u.Path) > 1 {
			hidden = append(hidden, u.Path)
			for part := range strings.SplitSeq(u.Path, "/") {
				if len(part) >= minSecretPart {
					hidden = append(hidden, part)
				}
			}
		}
	}
	return outbound.Scrub(secret.Erase(text, hidden...))
}

// minSecretPart is the length of the parts of a secret path that are removed alone. Shorter ones are
// words such as "services".
const minSecretPart = 9

// kindOf returns what follows from the status of a response.
func kindOf(status int) fault.Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fault.Unauthorized
	case status == http.StatusNotFound, status == http.StatusGone:
		return fault.NotFound
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return fault.Temporary
	}
	return fault.Invalid
}

// checkSecretURL verifies the form of a URL that is a secret. Whether it works shows the first
// message.
func checkSecretURL(service string, address secret.String) (string, error) {
	u, err := url.Parse(address.Reveal())
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return "", fault.New(fault.Invalid, "%s: the secret is not a URL with https", service)
	}
	return "has a URL at " + u.Host, nil
}
