// Package signin signs users in with OpenID Connect: the authorization code flow with PKCE, a
// state, and a nonce, as in https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth
// and https://www.rfc-editor.org/rfc/rfc9700.
//
// The state, the nonce, and the verifier of PKCE are derived from a random ID in a signed
// cookie, so that a sign-in that was only begun is not stored, and so that a response counts only
// in the browser that asked for it. A completed sign-in is recorded until it expires, so that a
// copied cookie does not complete it again. What a user may do is decided by package access.
package signin

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/printable"
	"promoter/internal/secret"
)

// Paths of the handlers, below the URL of the service.
const (
	StartPath    = "/sign-in/oidc"
	CallbackPath = "/sign-in/callback"
)

// Completed records the sign-ins that were completed, for all replicas.
type Completed interface {
	// Use reports whether a sign-in is completed for the first time. It may be forgotten after
	// it has expired.
	Use(ctx context.Context, id string, now, expires time.Time) (first bool, err error)
}

// Options configure a Provider.
type Options struct {
	Sessions     *access.Sessions // with the mapping of the provider
	Completed    Completed
	URL          string        // of this service
	ClientSecret secret.String // zero: a public client
	Scopes       []string
	Insecure     bool              // the pages of the provider may use plain HTTP
	HTTP         http.RoundTripper // guarded
	Log          *slog.Logger
	Now          func() time.Time
}

// Provider signs users in at one provider.
type Provider struct {
	Options

	mu      sync.Mutex
	found   *oidc.Provider
	failed  error
	retryAt time.Time
}

// New returns a Provider. It is discovered with the first sign-in.
func New(options Options) *Provider { return &Provider{Options: options} }

const (
	flowCookie  = "promoter-sign-in"
	flowTimeout = 10 * time.Minute // for the user to enter passwords
	// discoveryRetry is how long a failed discovery is not repeated: anyone may request it.
	discoveryRetry = 10 * time.Second
	requestTimeout = 15 * time.Second
	maxResponse    = 1 << 20
	maxReturn      = 1000
	maxText        = 300 // of what a provider writes
)

// flow is a sign-in that was begun.
type flow struct {
	ID     string    `json:"id"`
	Return string    `json:"return"`
	Begun  time.Time `json:"begun"`
}

// Start redirects to the provider. The parameter return is the path to return to.
func (p *Provider) Start(w http.ResponseWriter, r *http.Request) error {
	config, _, err := p.discover(r.Context())
	if err != nil {
		return err
	}
	begun := flow{ID: rand.Text(), Return: Local(r.URL.Query().Get("return")), Begun: p.Now().UTC()}
	if err := p.Sessions.SetCookie(w, r, flowCookie, begun, begun.Begun.Add(flowTimeout)); err != nil {
		return err
	}
	nonce, challenge := oidc.Nonce(p.derive("nonce", begun)), oauth2.S256ChallengeOption(p.derive("pkce", begun))
	redirect(w, r, config.AuthCodeURL(p.derive("state", begun), nonce, challenge))
	return nil
}

// Callback starts a session with the response of the provider, and redirects to where the user
// was. An error is for the user.
func (p *Provider) Callback(w http.ResponseWriter, r *http.Request) error {
	begun, err := p.begun(r)
	if err != nil {
		return err
	}
	p.Sessions.ClearCookie(w, r, flowCookie)
	query := r.URL.Query()
	if code := query.Get("error"); code != "" {
		why := line(strings.TrimSpace(code + " " + query.Get("error_description")))
		return fault.New(fault.Unauthorized, "%s refused the sign-in: %s", p.Sessions.OIDC.Issuer, why)
	}
	// https://www.rfc-editor.org/rfc/rfc9207
	if issuer := query.Get("iss"); issuer != "" && issuer != p.Sessions.OIDC.Issuer {
		return fault.New(fault.Unauthorized, "the response is from another provider")
	}
	identity, err := p.identity(r.Context(), query.Get("code"), begun)
	if err != nil {
		return err
	}
	if err := p.complete(r.Context(), begun, identity); err != nil {
		return err
	}
	principal, err := p.Sessions.SignInIdentity(w, r, identity)
	if err != nil {
		p.Log.WarnContext(r.Context(), "sign-in refused", slog.String("subject", line(identity.Subject)), slog.String("error", err.Error()))
		return err
	}
	p.Log.InfoContext(r.Context(), "signed in", slog.String("user", principal.Name), slog.String("subject", line(identity.Subject)))
	redirect(w, r, begun.Return)
	return nil
}

// complete records that a sign-in was completed, and refuses one that was before. It is called
// when the provider has authenticated the user, so that requests of others store nothing.
func (p *Provider) complete(ctx context.Context, begun flow, identity access.Identity) error {
	first, err := p.Completed.Use(ctx, p.derive("completed", begun), p.Now(), begun.Begun.Add(flowTimeout))
	if err != nil {
		return fmt.Errorf("record the sign-in: %w", err)
	}
	if !first {
		subject := slog.String("subject", line(identity.Subject))
		p.Log.WarnContext(ctx, "sign-in refused", subject, slog.String("error", errCompleted.Error()))
		return fault.Wrap(fault.Unauthorized, errCompleted)
	}
	return nil
}

var errCompleted = errors.New("this sign-in was completed before: sign in again")

func redirect(w http.ResponseWriter, r *http.Request, target string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, target, http.StatusSeeOther)
}

// begun returns the sign-in that the browser began.
func (p *Provider) begun(r *http.Request) (begun flow, err error) {
	known := p.Sessions.Cookie(r, flowCookie, &begun) && begun.ID != "" && p.Now().Before(begun.Begun.Add(flowTimeout))
	if !known || !hmac.Equal([]byte(r.URL.Query().Get("state")), []byte(p.derive("state", begun))) {
		return flow{}, fault.New(fault.Unauthorized,
			"this sign-in was not begun in this browser, or more than %v ago: sign in again", flowTimeout)
	}
	return begun, nil
}

func (p *Provider) derive(purpose string, f flow) string {
	return p.Sessions.Derive("sign-in "+purpose, f.ID)
}

// discover returns the configuration of the provider, which is read once.
func (p *Provider) discover(ctx context.Context) (*oauth2.Config, *oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found == nil && !p.Now().Before(p.retryAt) {
		p.found, p.failed = p.read(ctx)
		p.retryAt = p.Now().Add(discoveryRetry)
	}
	if p.found == nil {
		return nil, nil, p.failed
	}
	return &oauth2.Config{
		ClientID:     p.Sessions.OIDC.ClientID,
		ClientSecret: p.ClientSecret.Reveal(),
		Endpoint:     p.found.Endpoint(),
		RedirectURL:  strings.TrimSuffix(p.URL, "/") + CallbackPath,
		Scopes:       p.Scopes,
	}, p.found, nil
}

func (p *Provider) read(ctx context.Context) (*oidc.Provider, error) {
	// The provider keeps the client for its keys, and not the context of this request.
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), p.client())
	found, err := oidc.NewProvider(ctx, p.Sessions.OIDC.Issuer)
	if err != nil {
		p.Log.ErrorContext(ctx, "the OpenID Connect provider cannot be used", slog.String("error", line(err.Error())))
		return nil, fault.New(fault.Temporary, "%s cannot be reached: the log of promoter has the reason", p.Sessions.OIDC.Issuer)
	}
	page, err := url.Parse(found.Endpoint().AuthURL)
	if err != nil || page.Host == "" || page.Scheme != "https" && (page.Scheme != "http" || !p.Insecure) {
		return nil, fault.New(fault.Temporary, "%s has no sign-in page with https", p.Sessions.OIDC.Issuer)
	}
	return found, nil
}

var errResponse = errors.New("the response of the provider is not valid: the log of promoter has the reason; sign in again")

// identity exchanges a code for an identity token, and verifies that.
func (p *Provider) identity(ctx context.Context, code string, begun flow) (identity access.Identity, err error) {
	config, provider, err := p.discover(ctx)
	if err != nil {
		return identity, err
	}
	claims, err := p.exchange(oidc.ClientContext(ctx, p.client()), config, provider, code, begun)
	if err != nil {
		p.Log.WarnContext(ctx, "sign-in failed", slog.String("error", line(err.Error())))
		return identity, fault.Wrap(fault.Unauthorized, errResponse)
	}
	identity.Subject = claims["sub"].(string) //nolint:forcetypeassert // exchange read it
	identity.Claims = map[string][]string{}
	for _, name := range p.Sessions.OIDC.Claims() {
		if name == "email" && claims["email_verified"] != true { // a user may enter any
			continue
		}
		identity.Claims[name] = valuesOf(find(claims, name))
	}
	return identity, nil
}

// exchange returns the claims of a valid identity token.
func (p *Provider) exchange(
	ctx context.Context, config *oauth2.Config, provider *oidc.Provider, code string, begun flow,
) (claims map[string]any, err error) {
	verifier := oauth2.VerifierOption(p.derive("pkce", begun))
	token, err := config.Exchange(ctx, code, verifier)
	refused, answered := errors.AsType[*oauth2.RetrieveError](err)
	if answered && refused.Response.StatusCode == http.StatusUnauthorized && p.ClientSecret.Renewed(config.ClientSecret) {
		config.ClientSecret = p.ClientSecret.Reveal() // its file was replaced
		token, err = config.Exchange(ctx, code, verifier)
	}
	if err != nil {
		return nil, err
	}
	raw, _ := token.Extra("id_token").(string)
	verified, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID, Now: p.Now}).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if verified.Subject == "" || !hmac.Equal([]byte(verified.Nonce), []byte(p.derive("nonce", begun))) {
		return nil, errors.New("the identity token has another nonce, or no subject")
	}
	if err := verified.Claims(&claims); err != nil {
		return nil, err
	}
	// https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
	if party, has := claims["azp"]; (has || len(verified.Audience) > 1) && party != config.ClientID {
		return nil, errors.New("the identity token was issued to another client")
	}
	return claims, nil
}

// find returns a claim. A name with dots is also a path, as realm_access.roles of Keycloak.
func find(claims map[string]any, name string) any {
	if value, ok := claims[name]; ok {
		return value
	}
	before, after, nested := strings.Cut(name, ".")
	inner, ok := claims[before].(map[string]any)
	if !nested || !ok {
		return nil
	}
	return find(inner, after)
}

// valuesOf returns the values of a claim: a string, a Boolean, or a list of strings.
func valuesOf(claim any) (values []string) {
	switch claim := claim.(type) {
	case string:
		return []string{claim}
	case bool:
		return []string{strconv.FormatBool(claim)}
	case []any:
		for _, one := range claim {
			if text, ok := one.(string); ok {
				values = append(values, text)
			}
		}
	}
	return values
}

// Local returns a path of this service with its query, or / for anything else.
func Local(path string) string {
	if len(path) > maxReturn || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	parsed, err := url.Parse(path)
	if err != nil || parsed.IsAbs() || parsed.Host != "" || parsed.Path == StartPath || parsed.Path == CallbackPath {
		return "/"
	}
	return path
}

func line(text string) string { return printable.ShortLine(text, maxText) }

// client limits the time and the size of responses.
func (p *Provider) client() *http.Client {
	return &http.Client{Transport: limited{p.HTTP}, Timeout: requestTimeout}
}

type limited struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := outbound.ReadAll(response.Body, maxResponse)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}
