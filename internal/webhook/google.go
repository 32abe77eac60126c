package webhook

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
)

// Who signs Google's identity tokens, and where the keys are.
// https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
const (
	googleIssuer = "https://accounts.google.com"
	googleKeys   = "https://www.googleapis.com/oauth2/v3/certs"
)

// fromGoogle wants an identity token of Google's for the audience and the account
// of the entry. Its keys outlive every request, so no context of one is passed on.
//
//nolint:contextcheck,nolintlint // it is reported where this is called, in other packages
func fromGoogle(options Options) (proof, error) {
	if options.HTTP == nil || options.HTTP.Transport == nil || options.Now == nil || options.Email == "" {
		return nil, errors.New("an audience wants an email, and a way to fetch Google's keys")
	}
	fetching := oidc.ClientContext(context.Background(), keyClient(options))
	verifier := oidc.NewVerifier(googleIssuer, oidc.NewRemoteKeySet(fetching, googleKeys), &oidc.Config{
		ClientID: options.Audience, Now: options.Now, SupportedSigningAlgs: []string{oidc.RS256},
	})
	return func(ctx context.Context, r Request) bool {
		raw, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !found || len(raw) > maxToken {
			return false
		}
		token, err := verifier.Verify(ctx, raw)
		if err != nil {
			return false
		}
		var who struct {
			Email    string `json:"email"`
			Verified bool   `json:"email_verified"`
		}
		return token.Claims(&who) == nil && who.Verified && equal(who.Email, options.Email)
	}, nil
}

// maxToken and maxKeys bound an identity token and Google's answer, in bytes.
const (
	maxToken = 8 << 10
	maxKeys  = 256 << 10
)

// keysWithin bounds a question for keys, and keysEvery how often they are asked for:
// a token with a key that nobody has would have us ask for each request. Google shows
// a new key days before it signs with it.
const (
	keysWithin = 10 * time.Second
	keysEvery  = 10 * time.Second
)

// keyClient asks for keys, within bounds.
func keyClient(options Options) *http.Client {
	limited := *options.HTTP
	limited.Timeout = keysWithin
	limited.Transport = &keyTransport{next: options.HTTP.Transport, now: options.Now}
	return &limited
}

// keyTransport bounds answers, and how often there are any: for a while the last one
// is given again, whatever it was. The library asks once too often when two requests
// come as the first answer arrives, and neither may be refused for that.
type keyTransport struct {
	next http.RoundTripper
	now  func() time.Time

	mu    sync.Mutex
	asked time.Time
	last  keyAnswer
}

// keyAnswer is what a question for keys brought.
type keyAnswer struct {
	response http.Response // without a body
	body     []byte
	err      error
}

// RoundTrip implements http.RoundTripper.
func (t *keyTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if passed := now.Sub(t.asked); passed < 0 || passed >= keysEvery {
		t.asked, t.last = now, t.ask(request)
	}
	if t.last.err != nil {
		return nil, t.last.err
	}
	response := t.last.response
	response.Request, response.Body = request, io.NopCloser(bytes.NewReader(t.last.body))
	return &response, nil
}

func (t *keyTransport) ask(request *http.Request) keyAnswer {
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return keyAnswer{err: err}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, maxKeys))
	return keyAnswer{response: *response, body: body, err: err}
}
