package access_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"promoter/internal/access"
	"promoter/internal/secret"
)

const sessionToken = "0123456789abcdef0123456789abcdef"

// browser is a browser with one cookie, on a machine with a clock.
type browser struct {
	*access.Sessions
	t      *testing.T
	now    time.Time
	url    string
	cookie *http.Cookie
}

func newBrowser(t *testing.T) *browser {
	b := &browser{t: t, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), url: "https://promoter.example.com/"}
	b.Sessions = &access.Sessions{
		Key: secret.New(strings.Repeat("k", access.MinSessionKey)), Now: func() time.Time { return b.now },
		Tokens: access.Tokens{{Principal: access.Principal{Name: "token one", Roles: []access.Role{access.Read}}, Secret: secret.New(sessionToken)}},
		OIDC: &access.Mapping{
			Issuer: "https://id.example.com", ClientID: "promoter", UserClaim: "preferred_username", UserForge: "github",
			Roles: []access.ClaimRoles{{Claim: "groups", Values: []string{"ops"}, Roles: []access.Role{access.Admin}}},
		},
	}
	return b
}

func (b *browser) request(method, body string) *http.Request {
	r := httptest.NewRequestWithContext(b.t.Context(), method, b.url, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.TLS = nil // it ends at a proxy
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	return r
}

// keep stores the cookie of a response.
func (b *browser) keep(w *httptest.ResponseRecorder) *http.Cookie {
	b.t.Helper()
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		b.t.Fatalf("%d cookies", len(cookies))
	}
	b.cookie = cookies[0]
	return b.cookie
}

func (b *browser) signIn() access.Session {
	b.t.Helper()
	w := httptest.NewRecorder()
	if principal, ok := b.SignInToken(w, b.request("POST", ""), " "+sessionToken+"\n"); !ok || principal.Name != "token one" {
		b.t.Fatalf("%v %v", principal, ok)
	}
	b.keep(w)
	return b.session()
}

func (b *browser) signInUser(groups ...string) error {
	b.t.Helper()
	w := httptest.NewRecorder()
	_, err := b.SignInIdentity(w, b.request("GET", ""), access.Identity{Subject: "u1", Claims: map[string][]string{
		"groups": groups, "preferred_username": {"ada"},
	}})
	if err == nil {
		b.keep(w)
	}
	return err
}

func (b *browser) session() access.Session {
	b.t.Helper()
	_, session, ok := b.Authenticate(b.request("GET", ""))
	if !ok || !session.SignedIn() {
		b.t.Fatal("not signed in")
	}
	return session
}

func (b *browser) out(why string) {
	b.t.Helper()
	if p, session, ok := b.Authenticate(b.request("GET", "")); ok || session.SignedIn() || p.Has(access.Read) {
		b.t.Errorf("%s: still signed in as %v", why, p)
	}
}

func TestSessions_signInWithAToken(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	b.out("before")
	w := httptest.NewRecorder()
	for _, wrong := range []string{"", "x", sessionToken[1:]} {
		if _, ok := b.SignInToken(w, b.request("POST", ""), wrong); ok || len(w.Result().Cookies()) > 0 {
			t.Errorf("signed in with %q", wrong)
		}
	}
	b.signIn()
	if c := b.cookie; !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Name != "__Host-promoter-session" || c.Path != "/" || c.Domain != "" || c.MaxAge != 12*3600 {
		t.Errorf("%+v", c)
	}
	if strings.Contains(b.cookie.Value, sessionToken) {
		t.Error("the cookie has the token")
	}
	if p, _, _ := b.Authenticate(b.request("GET", "")); p.Name != "token one" || p.Has(access.Admin) {
		t.Errorf("%+v", p)
	}
	w = httptest.NewRecorder()
	if b.End(w, b.request("POST", "")); b.keep(w).MaxAge >= 0 {
		t.Errorf("%+v", b.cookie)
	}
}

// Without TLS a browser accepts only plain cookies, which no other machine may see.
func TestSessions_cookieOnLoopback(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://127.0.0.1:8080/", "http://localhost/", "http://[::1]:8080/"} {
		b := newBrowser(t)
		b.url = url
		b.signIn()
		if b.cookie.Secure || b.cookie.Name != "promoter-session" || !b.cookie.HttpOnly {
			t.Errorf("%s: %+v", url, b.cookie)
		}
		proxied := b.request("GET", "")
		proxied.Header.Set("X-Forwarded-Proto", "https")
		if _, _, ok := b.Authenticate(proxied); ok {
			t.Errorf("%s: a plain cookie is accepted behind a proxy", url)
		}
	}
	b := newBrowser(t)
	b.url = "http://127.0.0.1.example.com/"
	if b.signIn(); !b.cookie.Secure {
		t.Error("a plain cookie for another host")
	}
}

func TestSessions_expireAndAreRenewed(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	b.signIn()
	b.now = b.now.Add(12 * time.Hour)
	b.out("12 hours without use")
	session, begun := b.signIn(), b.now
	w := httptest.NewRecorder()
	if b.Renew(w, b.request("GET", ""), session); len(w.Result().Cookies()) > 0 {
		t.Error("a new session was renewed")
	}
	for b.now.Sub(begun) < 7*24*time.Hour-11*time.Hour {
		b.now = b.now.Add(11 * time.Hour)
		w := httptest.NewRecorder()
		b.Renew(w, b.request("GET", ""), b.session())
		b.keep(w)
	}
	if b.session().ID != session.ID {
		t.Error("another session")
	}
	b.now = begun.Add(7 * 24 * time.Hour)
	b.out("7 days after the sign-in")
}

func TestSessions_endWithWhatTheyRestOn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*browser){
		"another key":          func(b *browser) { b.Key = secret.New(strings.Repeat("x", access.MinSessionKey)) },
		"no key":               func(b *browser) { b.Key = secret.String{} },
		"the token is removed": func(b *browser) { b.Tokens = nil },
		"the token is renamed": func(b *browser) { b.Tokens[0].Principal.Name = "token two" },
		"the token is changed": func(b *browser) { b.Tokens[0].Secret = secret.New(strings.Repeat("z", 32)) },
		"a changed cookie":     func(b *browser) { b.cookie.Value = "x" + b.cookie.Value },
		"a changed MAC":        func(b *browser) { b.cookie.Value += "x" },
		"no MAC":               func(b *browser) { b.cookie.Value, _, _ = strings.Cut(b.cookie.Value, ".") },
		"not a cookie":         func(b *browser) { b.cookie.Value = "." },
	} {
		b := newBrowser(t)
		b.signIn()
		change(b)
		b.out(name)
	}
	for name, change := range map[string]func(*browser){
		"without OpenID Connect":   func(b *browser) { b.OIDC = nil },
		"the value is not mapped":  func(b *browser) { b.OIDC.Roles[0].Values = []string{"dev"} },
		"the entry is removed":     func(b *browser) { b.OIDC.Roles = nil },
		"another provider":         func(b *browser) { b.OIDC.Issuer = "https://other.example.com" },
		"another client ID":        func(b *browser) { b.OIDC.ClientID = "other" },
		"the claim is another one": func(b *browser) { b.OIDC.Roles[0].Claim = "preferred_username" },
	} {
		b := newBrowser(t)
		if err := b.signInUser("ops"); err != nil {
			t.Fatal(err)
		}
		change(b)
		b.out(name)
	}
}

func TestSessions_usersHaveTheRolesOfTheFile(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	if err := b.signInUser("dev", "Ops"); err == nil || err.Error() !=
		`https://id.example.com knows you as "u1", but no entry of api.oidc.roles matches: they read groups of the identity token` {
		t.Errorf("%v", err)
	}
	many := make([]string, 0, 1001)
	for range 1000 {
		many = append(many, strings.Repeat("g", 30))
	}
	if err := b.signInUser(append(many, "ops")...); err != nil {
		t.Fatal(err)
	}
	p, _, _ := b.Authenticate(b.request("GET", ""))
	if p.Name != "user ada" || p.Forge != "github" || p.Login != "ada" || !p.Has(access.Admin) {
		t.Errorf("%+v", p)
	}
	b.OIDC.UserClaim, b.OIDC.Roles[0].Roles = "", []access.Role{access.Read}
	if p, _, _ := b.Authenticate(b.request("GET", "")); p.Name != "user u1" || p.Login != "" || p.Has(access.Admin) {
		t.Errorf("the session has what the file said before: %+v", p)
	}
}

func TestSessions_public(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	b.Public = access.Principal{Name: "public", Roles: []access.Role{access.Read}}
	p, session, ok := b.Authenticate(b.request("GET", ""))
	if !ok || session.SignedIn() || p.Name != "public" || p.Has(access.Admin) {
		t.Errorf("%+v %+v %v", p, session, ok)
	}
	if err := b.VerifyCSRF(b.request("POST", "csrf="+url.QueryEscape(b.CSRF(session))), session); err == nil {
		t.Error("a request without a session changes something")
	}
}

func TestSessions_csrf(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	session := b.signIn()
	token := b.CSRF(session)
	other := newBrowser(t)
	for name, test := range map[string]struct {
		method, body string
		header       map[string]string
		want         bool
	}{
		"GET":                     {"GET", "", nil, true},
		"in the form":             {"POST", "csrf=" + token, map[string]string{"Sec-Fetch-Site": "same-origin"}, true},
		"in the header":           {"POST", "", map[string]string{"X-CSRF-Token": token, "Origin": "https://promoter.example.com"}, true},
		"without":                 {"POST", "", map[string]string{"Sec-Fetch-Site": "same-origin"}, false},
		"of another session":      {"POST", "csrf=" + other.CSRF(other.signIn()), nil, false},
		"of no session":           {"POST", "csrf=" + b.CSRF(access.Session{}), nil, false},
		"from another site":       {"POST", "csrf=" + token, map[string]string{"Sec-Fetch-Site": "cross-site"}, false},
		"from a sibling host":     {"POST", "csrf=" + token, map[string]string{"Sec-Fetch-Site": "same-site"}, false},
		"another origin":          {"POST", "csrf=" + token, map[string]string{"Origin": "https://evil.example.com"}, false},
		"an origin without name":  {"POST", "csrf=" + token, map[string]string{"Origin": "null"}, false},
		"a body that is too long": {"POST", "x=" + strings.Repeat("x", 1<<17) + "&csrf=" + token, nil, false},
		"DELETE":                  {"DELETE", "", map[string]string{"Sec-Fetch-Site": "same-origin"}, false},
	} {
		r := b.request(test.method, test.body)
		for key, value := range test.header {
			r.Header.Set(key, value)
		}
		if err := b.VerifyCSRF(r, session); (err == nil) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
