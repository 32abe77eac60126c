package signin_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/secret"
	"promoter/internal/signin"
)

// provider is a provider of OpenID Connect that signs in one user.
type provider struct {
	t      *testing.T
	server *httptest.Server
	key    *rsa.PrivateKey
	shown  *rsa.PrivateKey // whose public key it publishes
	now    time.Time
	issuer string // that it claims to be, if not its URL
	down   bool
	asked  int
	codes  map[string]url.Values // with the parameters of their sign-in
	again  bool                  // it accepts a code more than once
	change func(claims jwt.MapClaims)
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{t: t, key: key, shown: key, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.asked++
		if p.down {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		issuer := p.server.URL
		if p.issuer != "" {
			issuer = p.issuer
		}
		p.answer(w, map[string]any{
			"issuer": issuer, "authorization_endpoint": p.server.URL + "/authorize", "token_endpoint": p.server.URL + "/token", "jwks_uri": p.server.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		encode := base64.RawURLEncoding.EncodeToString
		p.answer(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one",
			"n": encode(p.shown.N.Bytes()), "e": encode(big.NewInt(int64(p.shown.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("POST /token", p.token)
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

func (p *provider) answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		p.t.Error(err)
	}
}

// authorize is the user at the page of the provider. It returns the code and the state.
func (p *provider) authorize(location string) (code, state string) {
	p.t.Helper()
	parsed, err := url.Parse(location)
	if err != nil || !strings.HasPrefix(location, p.server.URL+"/authorize?") {
		p.t.Fatalf("%s: %v", location, err)
	}
	query := parsed.Query()
	if query.Get("response_type") != "code" || query.Get("client_id") != "promoter" || query.Get("scope") != "openid groups" ||
		query.Get("redirect_uri") != "https://promoter.example.com/sign-in/callback" || query.Get("code_challenge_method") != "S256" {
		p.t.Fatalf("%v", query)
	}
	code = rand.Text()
	p.codes[code] = query
	return code, query.Get("state")
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	id, clientSecret, _ := r.BasicAuth()
	begun, known := p.codes[r.PostFormValue("code")]
	if !p.again {
		delete(p.codes, r.PostFormValue("code"))
	}
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if id != "promoter" || clientSecret != "client-secret" || !known || begun.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	claims := jwt.MapClaims{
		"iss": p.server.URL, "sub": "u1", "aud": "promoter", "iat": p.now.Unix(), "exp": p.now.Add(time.Minute).Unix(), "nonce": begun.Get("nonce"),
		"groups": []string{"dev", "ops"}, "preferred_username": "ada", "email": "ada@example.com", "email_verified": true,
		"realm_access": map[string]any{"roles": []string{"viewer"}},
	}
	if p.change != nil {
		p.change(claims)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	token.Header["kid"] = "one"
	signed, err := token.SignedString(p.key)
	if err != nil {
		p.t.Error(err)
	}
	p.answer(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": signed})
}

// world is promoter, its provider, and one browser.
type world struct {
	*provider
	sessions *access.Sessions
	signin   *signin.Provider
	store    *completed
	cookies  map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{provider: newProvider(t), cookies: map[string]string{}}
	now := func() time.Time { return w.now }
	w.sessions = &access.Sessions{
		Key: secret.New(strings.Repeat("k", access.MinSessionKey)), Now: now,
		OIDC: &access.Mapping{
			Issuer: w.server.URL, ClientID: "promoter", UserClaim: "preferred_username", UserForge: "github",
			Roles: []access.ClaimRoles{{Claim: "groups", Values: []string{"ops"}, Roles: []access.Role{access.Admin}}},
		},
	}
	w.store = &completed{ids: map[string]time.Time{}}
	w.restart()
	return w
}

// completed is the record of completed sign-ins that replicas share.
type completed struct {
	ids map[string]time.Time
	err error
}

func (c *completed) Use(_ context.Context, id string, _, expires time.Time) (first bool, err error) {
	_, used := c.ids[id]
	c.ids[id] = expires
	return !used, c.err
}

func (w *world) restart() {
	w.signin = signin.New(signin.Options{
		Sessions: w.sessions, Completed: w.store, URL: "https://promoter.example.com", ClientSecret: secret.New("client-secret"), Scopes: []string{"openid", "groups"},
		Insecure: true, HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now },
	})
}

// visit opens a page, and stores its cookies.
func (w *world) visit(page func(http.ResponseWriter, *http.Request) error, path string) (location string, err error) {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "https://promoter.example.com"+path, nil)
	for name, value := range w.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	answer := httptest.NewRecorder()
	err = page(answer, r)
	for _, cookie := range answer.Result().Cookies() {
		w.cookies[cookie.Name] = cookie.Value
		if cookie.MaxAge < 0 {
			delete(w.cookies, cookie.Name)
		}
	}
	return answer.Header().Get("Location"), err
}

// start begins a sign-in. It returns the query with which the provider sends the user back.
func (w *world) start() url.Values {
	w.t.Helper()
	location, err := w.visit(w.signin.Start, signin.StartPath+"?return="+url.QueryEscape("/applications?env=dev"))
	if err != nil {
		w.t.Fatal(err)
	}
	code, state := w.authorize(location)
	return url.Values{"code": {code}, "state": {state}}
}

func (w *world) callback(query url.Values) (location string, err error) {
	w.t.Helper()
	return w.visit(w.signin.Callback, signin.CallbackPath+"?"+query.Encode())
}

func (w *world) principal() (access.Principal, bool) {
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "https://promoter.example.com/", nil)
	for name, value := range w.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	principal, _, ok := w.sessions.Authenticate(r)
	return principal, ok
}

func TestProvider_signsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	query := w.start()
	query.Set("iss", w.server.URL)
	location, err := w.callback(query)
	if err != nil || location != "/applications?env=dev" {
		t.Fatalf("%s %v", location, err)
	}
	if p, ok := w.principal(); !ok || p.Name != "user ada" || p.Forge != "github" || p.Login != "ada" || !p.Has(access.Admin) {
		t.Errorf("%+v %v", p, ok)
	}
	if len(w.cookies) != 1 {
		t.Errorf("the cookie of the sign-in stays: %v", w.cookies)
	}
	if w.start(); w.asked != 1 {
		t.Errorf("discovered %d times", w.asked)
	}
}

func TestProvider_refusesWrongTokens(t *testing.T) {
	t.Parallel()
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	const invalid = "not valid"
	for name, test := range map[string]struct {
		change func(w *world, query url.Values)
		claims func(jwt.MapClaims)
		want   string
	}{
		"nonce":                   {nil, func(c jwt.MapClaims) { c["nonce"] = "x" }, invalid},
		"no nonce":                {nil, func(c jwt.MapClaims) { delete(c, "nonce") }, invalid},
		"audience":                {nil, func(c jwt.MapClaims) { c["aud"] = "other" }, invalid},
		"another client of two":   {nil, func(c jwt.MapClaims) { c["aud"] = []string{"promoter", "other"}; c["azp"] = "other" }, invalid},
		"two clients":             {nil, func(c jwt.MapClaims) { c["aud"] = []string{"promoter", "other"} }, invalid},
		"issuer":                  {nil, func(c jwt.MapClaims) { c["iss"] = "https://evil.example.com" }, invalid},
		"expired":                 {nil, func(c jwt.MapClaims) { c["exp"] = c["iat"].(int64) - 1 }, invalid},
		"no subject":              {nil, func(c jwt.MapClaims) { c["sub"] = "" }, invalid},
		"signed with another key": {func(w *world, _ url.Values) { w.key = other }, nil, invalid},
		"state":                   {func(_ *world, q url.Values) { q.Set("state", "x") }, nil, "not begun in this browser"},
		"no state":                {func(_ *world, q url.Values) { q.Del("state") }, nil, "not begun in this browser"},
		"another browser":         {func(w *world, _ url.Values) { w.cookies = map[string]string{} }, nil, "not begun in this browser"},
		"too late":                {func(w *world, _ url.Values) { w.now = w.now.Add(10 * time.Minute) }, nil, "not begun in this browser"},
		"code":                    {func(_ *world, q url.Values) { q.Set("code", "x") }, nil, invalid},
		"a code of another": {func(w *world, q url.Values) {
			q.Set("code", w.start().Get("code"))
			q.Set("state", w.start().Get("state"))
		}, nil, invalid},
		"another provider":         {func(_ *world, q url.Values) { q.Set("iss", "https://evil.example.com") }, nil, "another provider"},
		"refused by the provider":  {func(_ *world, q url.Values) { q.Set("error", "access_denied") }, nil, "refused the sign-in: access_denied"},
		"no role":                  {nil, func(c jwt.MapClaims) { c["groups"] = []string{"dev", "OPS"} }, `knows you as "u1", but no entry of api.oidc.roles matches: they read groups`},
		"a role in another claim":  {nil, func(c jwt.MapClaims) { c["groups"], c["other"] = nil, "ops" }, "no entry of api.oidc.roles matches"},
		"a role that is no string": {nil, func(c jwt.MapClaims) { c["groups"] = []any{map[string]any{"ops": "ops"}, 1} }, "no entry of api.oidc.roles matches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			query := w.start()
			w.provider.change = test.claims
			if test.change != nil {
				test.change(w, query)
			}
			if _, err := w.callback(query); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
			if p, ok := w.principal(); ok {
				t.Errorf("signed in as %+v", p)
			}
		})
	}
}

// A code and a state count once.
func TestProvider_refusesAReplayedResponse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	query := w.start()
	before := map[string]string{}
	for name, value := range w.cookies {
		before[name] = value
	}
	if _, err := w.callback(query); err != nil {
		t.Fatal(err)
	}
	if _, err := w.callback(query); err == nil || !strings.Contains(err.Error(), "not begun in this browser") {
		t.Errorf("%v", err)
	}
	if w.cookies = before; true { // the provider refuses the code, even if the cookie was kept
		if _, err := w.callback(query); err == nil || !strings.Contains(err.Error(), "not valid") {
			t.Errorf("%v", err)
		}
	}
}

// A sign-in counts once, also where the provider accepts its code again, and at another replica.
// What is recorded is the sign-in until it expires, and not a value of the cookie.
func TestProvider_completesASignInOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.again = true
	query := w.start()
	copied := maps.Clone(w.cookies)
	began := w.now
	if _, err := w.callback(query); err != nil {
		t.Fatal(err)
	}
	for id, expires := range w.store.ids {
		if !expires.Equal(began.Add(10*time.Minute)) || strings.Contains(copied["__Host-promoter-sign-in"], id) {
			t.Errorf("recorded %s until %v", id, expires)
		}
	}
	w.restart() // another replica
	w.cookies = copied
	if _, err := w.callback(query); err == nil || !strings.Contains(err.Error(), "completed before") {
		t.Errorf("with a copied cookie: %v", err)
	}
	if p, ok := w.principal(); ok {
		t.Errorf("signed in as %+v", p)
	}
	if len(w.store.ids) != 1 {
		t.Errorf("recorded %d", len(w.store.ids))
	}
}

// Requests that no provider confirms store nothing. A sign-in that cannot be recorded fails.
func TestProvider_recordsOnlyUsersOfTheProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	query := w.start()
	query.Set("code", "x")
	if _, err := w.callback(query); err == nil || len(w.store.ids) != 0 {
		t.Errorf("%v, recorded %v", err, w.store.ids)
	}
	w.store.err = fault.New(fault.Temporary, "the disk is full")
	if _, err := w.callback(w.start()); fault.KindOf(err) != fault.Temporary {
		t.Errorf("not recorded: %v", err)
	}
	if p, ok := w.principal(); ok {
		t.Errorf("signed in as %+v", p)
	}
}

func TestProvider_readsClaims(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		claim, value string
		change       func(jwt.MapClaims)
		want         bool
	}{
		"a string":                    {"preferred_username", "ada", nil, true},
		"below another":               {"realm_access.roles", "viewer", nil, true},
		"with dots in its name":       {"https://acme.com/role", "x", func(c jwt.MapClaims) { c["https://acme.com/role"] = "x" }, true},
		"a Boolean":                   {"email_verified", "true", nil, true},
		"a verified address":          {"email", "ada@example.com", nil, true},
		"an address of anyone":        {"email", "ada@example.com", func(c jwt.MapClaims) { c["email_verified"] = false }, false},
		"an address, not known how":   {"email", "ada@example.com", func(c jwt.MapClaims) { delete(c, "email_verified") }, false},
		"a claim that does not exist": {"none.of", "", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.sessions.OIDC.Roles = []access.ClaimRoles{{Claim: test.claim, Values: []string{test.value}, Roles: []access.Role{access.Read}}}
			w.provider.change = test.change
			if _, err := w.callback(w.start()); (err == nil) != test.want {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestProvider_discovery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.down = true
	for range 3 {
		if _, err := w.visit(w.signin.Start, signin.StartPath); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
			t.Fatal(err)
		}
	}
	if w.asked != 1 {
		t.Errorf("asked %d times in one moment", w.asked)
	}
	w.down, w.now = false, w.now.Add(time.Minute)
	w.start()
	w.issuer = "https://evil.example.com"
	w.restart()
	if _, err := w.visit(w.signin.Start, signin.StartPath); err == nil {
		t.Error("another issuer is accepted")
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/": "/", "/applications?env=dev#x": "/applications?env=dev#x", "": "/", "//evil.example.com": "/", `/\evil.example.com`: "/",
		"https://evil.example.com/": "/", "applications": "/", "/\t/evil.example.com": "/", signin.StartPath + "?return=/": "/", "javascript:x": "/",
	} {
		if got := signin.Local(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
