package registry

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/secret"
)

func TestCredential_neverInErrors(t *testing.T) {
	t.Parallel()
	f := newAuthFake(t)
	f.push(t, "tenant-b/web", "1.0.0")
	encoded := base64.StdEncoding.EncodeToString([]byte(user + ":wrong-" + password))
	for _, bearer := range []bool{false, true} {
		for _, status := range []int{0, 400, 401, 403, 404, 418, 429, 500, 503} {
			t.Run(fmt.Sprintf("bearer %v, status %d", bearer, status), func(t *testing.T) {
				g := &authFake{fake: newFake(t), bearer: bearer}
				g.answer = func(w http.ResponseWriter, r *http.Request) bool {
					if status == 0 || r.URL.Path == "/v2/" {
						return g.guard(w, r)
					}
					w.WriteHeader(status)
					_, _ = fmt.Fprintf(w, `{"errors":[{"code":"DENIED","message":%q}],"refresh_token":%q}`, r.Header.Get("Authorization"), password)
					return true
				}
				credential := g.credential("**")
				credential.Secret = secret.New("wrong-" + password)
				v := newClient(t, Options{Credentials: []Credential{credential}}).For("a/1")
				r := g.repository(t, "tenant-b/web")
				_, first := v.Select(t.Context(), Request{Repository: r, Policy: mustPolicy(t, image.Selection{Semver: ">=1"})})
				_, second := v.Resolve(t.Context(), image.Reference{Repository: r, Tag: "1.0.0"})
				_, third := v.Describe(t.Context(), r, "sha256:"+strings.Repeat("0", 64))
				for _, err := range []error{first, second, third} {
					if err == nil {
						t.Fatal("no error")
					}
					if strings.Contains(err.Error(), password) || strings.Contains(err.Error(), encoded) {
						t.Errorf("the canary is out: %v", err)
					}
					if !strings.Contains(err.Error(), r.String()) {
						t.Errorf("the error does not say what was asked: %v", err)
					}
				}
			})
		}
	}
}

func TestCredential_replacesExpiredToken(t *testing.T) {
	t.Parallel()
	f := newAuthFake(t)
	f.push(t, "tenant-b/web", "1.0.0")
	f.bearer = true
	c := newClient(t, Options{Credentials: []Credential{f.credential("**")}})
	ref := image.Reference{Repository: f.repository(t, "tenant-b/web"), Tag: "1.0.0"}
	for range 2 {
		if _, err := c.For("a/1").Resolve(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		f.tokens.Add(1) // the token of the first answer is worth nothing now
	}
}

// Another host that responds instead of the registry may name its own login, and must not
// receive the credential of the registry.
func TestCredential_refusesRedirectedPing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect} {
		t.Run(fmt.Sprint("", status), func(t *testing.T) {
			t.Parallel()
			evil := newFake(t)
			evil.host = strings.Replace(evil.host, "127.0.0.1", "localhost", 1)
			evil.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/token" {
					w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="acme"`, evil.host))
					w.WriteHeader(http.StatusUnauthorized)
					return true
				}
				_, _ = w.Write([]byte(`{"token":"x"}`))
				return true
			}
			f := newFake(t)
			f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
			f.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/v2/" {
					http.Redirect(w, r, "http://"+evil.host+"/login", status)
					return true
				}
				return false
			}
			ref := image.Reference{Repository: f.repository(t, "acme/web"), Tag: "1.0.0"}
			credential := Credential{Host: f.host, UsableBy: []string{"a/1"}, Username: user, Secret: secret.New(password)}
			c := newClient(t, Options{Credentials: []Credential{credential}})
			_, err := c.For("a/1").Resolve(t.Context(), ref)
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), evil.host) {
				t.Errorf("err = %v", err)
			}
			if evil.sent() {
				t.Errorf("a credential was sent: %q", evil.auths)
			}
			if _, err := c.For("a/2").Resolve(t.Context(), ref); err != nil {
				t.Errorf("without a credential: %v", err)
			}
		})
	}
}

// The library asks its token service for every scope that a registry ever named,
// and forgets none.
func TestCredential_scopesDoNotAccumulate(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	f.reset()
	var named atomic.Int64
	most := 0
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/token":
			most = max(most, len(r.URL.Query()["scope"]))
			_, _ = fmt.Fprintf(w, `{"token":"token-%d"}`, named.Load())
		case r.Header.Get("Authorization") != fmt.Sprintf("Bearer token-%d", named.Load()):
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="acme",scope="repository:other-%d:pull"`, f.host, named.Load()))
			w.WriteHeader(http.StatusUnauthorized)
		default:
			named.Add(1) // the token of this answer is worth nothing now
			return false
		}
		return true
	}
	c := newClient(t, Options{})
	for range 3 * maxRefusals {
		if _, err := c.For("a/1").Resolve(t.Context(), image.Reference{Repository: f.repository(t, "acme/web"), Tag: "1.0.0"}); err != nil {
			t.Fatal(err)
		}
	}
	if most > maxRefusals+2 {
		t.Errorf("%d scopes were asked for at once", most)
	}
}

func TestRealm_usualPairs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		registry, service string
		ok                bool
	}{
		{"index.docker.io", "auth.docker.io", true},
		{"ghcr.io", "ghcr.io", true},
		{"quay.io", "quay.io", true},
		{"registry.gitlab.com", "gitlab.com", true},
		{"registry.example.co.uk", "gitlab.example.co.uk", true},
		{"gitlab.example.com:5050", "gitlab.example.com", true},
		{"acme.azurecr.io", "acme.azurecr.io", true},
		{"registry.digitalocean.com", "api.digitalocean.com", true},
		{"registry.example.co.uk", "evil.co.uk", false},
		{"acme.github.io", "evil.github.io", false}, // a public suffix
		{"registry.example.com", "example.com.evil.test", false},
		{"registry.example.com", "notexample.com", false},
		{"10.0.0.7", "10.0.0.8", false},
		{"10.0.0.7:5000", "10.0.0.7:5001", true},
		{"registry", "tokens", false},
		{"ghcr.io", "", false},
		{"[2001:db8::1]:5000", "[2001:db8::1]", true},
	} {
		r := realm{registry: bareHost(tc.registry)}
		if got := r.admits(bareHost(tc.service)); got != tc.ok {
			t.Errorf("%s sends its credential to %s: %v", tc.registry, tc.service, got)
		}
	}
}

// stranger is a token service on another host that accepts every client.
func stranger(t *testing.T) (host string, asked func() []string) {
	t.Helper()
	var mutex sync.Mutex
	var auths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		auths = append(auths, r.Header.Get("Authorization"))
		_, _ = fmt.Fprint(w, `{"token":"token-1"}`)
	}))
	t.Cleanup(server.Close)
	return strings.Replace(strings.TrimPrefix(server.URL, "http://"), "127.0.0.1", "localhost", 1), func() []string {
		mutex.Lock()
		defer mutex.Unlock()
		return auths
	}
}

func TestRealm_tokenServiceOnAnotherHost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		named bool
		anon  bool
		kind  fault.Kind
	}{
		{"with a credential", false, false, fault.Invalid},
		{"with one whose entry names the service", true, false, ""},
		{"without one", false, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			service, asked := stranger(t)
			f := newAuthFake(t)
			f.push(t, "tenant-b/web", "1.0.0")
			f.tokens.Store(1)
			f.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Authorization") == "Bearer token-1" {
					return false
				}
				w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="acme"`, service))
				w.WriteHeader(http.StatusUnauthorized)
				return true
			}
			credential := f.credential("**")
			if tc.named {
				credential.TokenHost = service
			}
			var options Options
			if !tc.anon {
				options.Credentials = []Credential{credential}
			}
			_, err := newClient(t, options).For("a/1").Resolve(t.Context(), image.Reference{Repository: f.repository(t, "tenant-b/web"), Tag: "1.0.0"})
			if fault.KindOf(err) != tc.kind {
				t.Errorf("err = %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), "tokenHost: localhost") {
				t.Errorf("the error does not say what to do: %v", err)
			}
			if err != nil && len(asked()) != 0 {
				t.Errorf("the service was asked: %q", asked())
			}
		})
	}
}

func TestSession_repositoriesOfAnOpenHostShareALogin(t *testing.T) {
	t.Parallel()
	logins := func(t *testing.T, c *Client, f *fake) (a, b *login) {
		t.Helper()
		of := func(path string) *login {
			access, err := c.access("a/1", f.repository(t, path))
			if err != nil {
				t.Fatal(err)
			}
			made, err := access.session.login(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		return of("acme/a"), of("acme/b")
	}
	open := newFake(t)
	c := newClient(t, Options{})
	if a, b := logins(t, c, open); a != b {
		t.Error("a host that wants no login got two")
	}
	if n := open.count("GET /v2/"); n != 1 {
		t.Errorf("%d pings", n)
	}
	first, _ := logins(t, c, open)
	first.transport.refusals.Store(maxRefusals)
	if again, _ := logins(t, c, open); again == first {
		t.Error("a login that was refused too often is used again")
	}
	closed := newAuthFake(t)
	if a, b := logins(t, newClient(t, Options{Credentials: []Credential{closed.credential("**")}}), closed.fake); a == b {
		t.Error("repositories share a login with a credential")
	}
	if a, b := logins(t, newClient(t, Options{}), closed.fake); a == b {
		t.Error("repositories of a host that wants a login share one")
	}
}

// A host may begin to want a login.
func TestSession_openHostIsClosedAndOpenedAgain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	var wants atomic.Bool
	f.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		if !wants.Load() {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="acme"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	c := newClient(t, Options{})
	ref := image.Reference{Repository: f.repository(t, "acme/web"), Tag: "1.0.0"}
	for _, closed := range []bool{false, true, true, false, false} {
		wants.Store(closed)
		_, err := c.For("a/1").Resolve(t.Context(), ref)
		if got := fault.KindOf(err); err != nil && got != fault.Unauthorized || (err != nil) != closed {
			t.Errorf("closed %v: %v", closed, err)
		}
	}
}
