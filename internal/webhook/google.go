package webhook

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Who signs Google's identity tokens, and where the keys are.
// https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
const (
	googleIssuer = "https://accounts.google.com"
	googleKeys   = "https://www.googleapis.com/oauth2/v3/certs"
)

// fromGoogle wants an identity token of Google's for the audience and the account
// of the entry.
func fromGoogle(options Options) (proof, error) {
	if options.HTTP == nil || options.HTTP.Transport == nil || options.Now == nil || options.Email == "" {
		return nil, errors.New("an audience wants an email, and a way to fetch Google's keys")
	}
	fetching := oidc.ClientContext(context.Background(), bounded(options.HTTP))
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

// bounded is a client whose answers are.
func bounded(client *http.Client) *http.Client {
	limited := *client
	limited.Transport = boundedTransport{client.Transport}
	return &limited
}

type boundedTransport struct{ http.RoundTripper }

// RoundTrip cuts the answer at its limit.
func (t boundedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxKeys)
	}
	return response, err //nolint:wrapcheck // the transport of a client
}
