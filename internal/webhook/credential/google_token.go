package credential

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"promoter/internal/webhook/payload"
)

// The issuer of Google's identity tokens, and the URL of its keys.
// https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
const (
	googleIssuer = "https://accounts.google.com"
	googleKeys   = "https://www.googleapis.com/oauth2/v3/certs"
)

// googleToken requires an identity token that Google signed for the audience and the
// account of the entry. The keys outlive every request, so no request context is used.
//
//nolint:contextcheck,nolintlint // it is reported where this is called, in other packages
func googleToken(options Options) (verifier, error) {
	if options.HTTP == nil || options.HTTP.Transport == nil || options.Now == nil || options.Email == "" {
		return nil, errors.New("an audience requires an email, and a way to fetch Google's keys")
	}
	fetching := oidc.ClientContext(context.Background(), keyClient(options))
	verifier := oidc.NewVerifier(googleIssuer, oidc.NewRemoteKeySet(fetching, googleKeys), &oidc.Config{
		ClientID: options.Audience, Now: options.Now, SupportedSigningAlgs: []string{oidc.RS256},
	})
	return func(ctx context.Context, r payload.Request, _ []byte) bool {
		raw, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !found || len(raw) > maxToken {
			return false
		}
		token, err := verifier.Verify(ctx, raw)
		if err != nil {
			return false
		}
		var claims struct {
			Email    string `json:"email"`
			Verified bool   `json:"email_verified"`
		}
		return token.Claims(&claims) == nil && claims.Verified && equal(claims.Email, options.Email)
	}, nil
}

// maxToken and maxKeys limit an identity token and Google's response, in bytes.
const (
	maxToken = 8 << 10
	maxKeys  = 256 << 10
)

// keysTimeout limits a request for keys, and keysInterval how often one is sent: otherwise
// a token with an unknown key would cause one for each webhook. Google publishes a key days
// before it signs with it.
const (
	keysTimeout  = 10 * time.Second
	keysInterval = 10 * time.Second
)

// keyClient fetches keys within these limits.
func keyClient(options Options) *http.Client {
	limited := *options.HTTP
	limited.Timeout = keysTimeout
	limited.Transport = &keyTransport{next: options.HTTP.Transport, now: options.Now}
	return &limited
}

// keyTransport limits the size and the rate of responses: within keysInterval it returns
// the last one again, errors included. The library sends one request too many when two
// webhooks arrive with the first response, and neither may be refused for that.
type keyTransport struct {
	next http.RoundTripper
	now  func() time.Time

	mu      sync.Mutex
	fetched time.Time
	last    keyResponse
}

// keyResponse is the outcome of a request for keys.
type keyResponse struct {
	response http.Response // without a body
	body     []byte
	err      error
}

// RoundTrip implements http.RoundTripper.
func (t *keyTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if passed := now.Sub(t.fetched); passed < 0 || passed >= keysInterval {
		t.fetched, t.last = now, t.fetch(request)
	}
	if t.last.err != nil {
		return nil, t.last.err
	}
	response := t.last.response
	response.Request, response.Body = request, io.NopCloser(bytes.NewReader(t.last.body))
	return &response, nil
}

func (t *keyTransport) fetch(request *http.Request) keyResponse {
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return keyResponse{err: err}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, maxKeys))
	return keyResponse{response: *response, body: body, err: err}
}
