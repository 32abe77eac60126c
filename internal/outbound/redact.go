package outbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// redactedError is an error whose text is safe to show. It keeps the chain for errors.Is
// and errors.As.
type redactedError struct {
	text string
	err  error
}

// Error returns the safe text.
func (r *redactedError) Error() string { return r.text }

// Unwrap returns the original error.
func (r *redactedError) Unwrap() error { return r.err }

// Redact returns err with a text that is safe to show: URLs lose user, query and
// fragment, values of an authorization header are redacted, and only the first line
// remains, without control characters.
func Redact(err error) error {
	if err == nil {
		return nil
	}
	return Reworded(err, Scrub(err.Error()))
}

// Reworded returns err with another text, and the same chain.
func Reworded(err error, text string) error {
	if text == err.Error() {
		return err
	}
	return &redactedError{text: text, err: err}
}

var (
	links = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s"'<>]+`)
	auths = regexp.MustCompile(`(?i)\b(bearer|basic|token)[ :=]+[A-Za-z0-9._~+/=-]{8,}`)
)

// longestText is how much of an untrusted text is shown, in bytes.
const longestText = 400

// Scrub makes an untrusted text safe to show, see Redact.
func Scrub(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text = links.ReplaceAllStringFunc(text, bareURL)
	text = auths.ReplaceAllString(text, "$1 "+secret.Redacted)
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "") + "…"
	}
	return strings.Map(visible, strings.ToValidUTF8(text, "�"))
}

// visible replaces control characters and other invisible ones.
func visible(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return unicode.ReplacementChar
}

// bareURL keeps the scheme, host and path of a URL.
func bareURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		scheme, _, _ := strings.Cut(text, "://")
		return scheme + "://" + secret.Redacted
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// redactFor also redacts the credential of this request, in any form in which a server
// may have sent it back.
func redactFor(req *http.Request, err error) error {
	return Reworded(err, Scrub(secret.Erase(err.Error(), credentialsOf(req)...)))
}

// credentialsOf lists the credentials of a request and of those that led to it: a redirect
// to another host drops them, and may name them.
func credentialsOf(req *http.Request) []string {
	var found []string
	for ; req != nil; req = previous(req) {
		for _, header := range credentialHeaders {
			if value := req.Header.Get(header); value != "" {
				_, token, _ := strings.Cut(value, " ")
				found = append(found, value, token)
			}
		}
		if _, password, ok := req.BasicAuth(); ok {
			found = append(found, password)
		}
	}
	return slices.DeleteFunc(found, func(s string) bool { return s == "" })
}

// redactResponse replaces the credential of a request in the headers of its response, such
// as Location, and in a body that a library may quote: text, or that of an error.
func redactResponse(req *http.Request, resp *http.Response) {
	credentials := credentialsOf(req)
	if len(credentials) == 0 {
		return
	}
	for _, values := range resp.Header {
		for i, value := range values {
			values[i] = secret.Erase(value, credentials...)
		}
	}
	if resp.StatusCode < http.StatusMultipleChoices || resp.Body == nil {
		return // content, which is verified or parsed
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, longestQuoted))
	rest := resp.Body
	data = []byte(secret.Erase(string(data), credentials...))
	resp.Body = quotedBody{Reader: io.MultiReader(bytes.NewReader(data), failing{rest, err}), Closer: rest}
	resp.ContentLength = -1
}

// longestQuoted is more than a library quotes of a body.
const longestQuoted = 1 << 20

type quotedBody struct {
	io.Reader
	io.Closer
}

// failing is a body of which a part was read, with the error of that.
type failing struct {
	io.Reader
	err error
}

// Read returns the error, or the rest.
func (f failing) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Reader.Read(p)
}

// kindOfFailure returns the kind of an error of a request without a response.
func kindOfFailure(err error) fault.Kind {
	if kind := fault.KindOf(err); kind != fault.Internal {
		return kind
	}
	var (
		unknown  x509.UnknownAuthorityError
		verify   *tls.CertificateVerificationError
		notTLS   tls.RecordHeaderError
		hostname x509.HostnameError
	)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Temporary
	case errors.As(err, &unknown), errors.As(err, &verify), errors.As(err, &hostname), errors.As(err, &notTLS):
		return fault.Invalid
	}
	return fault.Temporary
}
