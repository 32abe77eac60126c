package registry

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/image"
)

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
		{"acme.github.io", "evil.github.io", false}, // everybody's
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

// stranger is a token service on another host that says yes to everybody.
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

func TestRealm_anotherHostsTokenService(t *testing.T) {
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
