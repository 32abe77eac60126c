package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/secret"
	"promoter/internal/secret/secrettest"
)

// The credential that must never be seen where it does not belong.
const (
	user     = "robot"
	password = "canary-5up3r-s3cret"
)

func repositoryKey(s string) identity.RepositoryKey { return identity.RepositoryKey(s) }

// authFake is a registry that shows nothing without a login.
type authFake struct {
	*fake
	bearer bool // wants a token from its own token service
	tokens atomic.Int64
}

func newAuthFake(t testing.TB) *authFake {
	t.Helper()
	f := &authFake{fake: newFake(t)}
	f.answer = f.guard
	return f
}

func (f *authFake) guard(w http.ResponseWriter, r *http.Request) bool {
	name, given, ok := r.BasicAuth()
	right := ok && name == user && given == password
	switch {
	case r.URL.Path == "/token" && right:
		_ = json.NewEncoder(w).Encode(map[string]string{"token": fmt.Sprintf("token-%d", f.tokens.Add(1))})
	case f.bearer && r.Header.Get("Authorization") == fmt.Sprintf("Bearer token-%d", f.tokens.Load()) && f.tokens.Load() > 0:
		return false
	case !f.bearer && right:
		return false
	default:
		challenge := `Basic realm="acme"`
		if f.bearer {
			challenge = fmt.Sprintf(`Bearer realm="http://%s/token",service="acme"`, f.host)
		}
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
		// A server that sends back what it was sent.
		_, _ = fmt.Fprintf(w, `{"errors":[{"code":"UNAUTHORIZED","message":%q,"detail":%q}]}`, r.Header.Get("Authorization"), name+given)
	}
	return true
}

func (f *authFake) push(t testing.TB, path string, tags ...string) string {
	t.Helper()
	bearer := f.bearer
	f.bearer = false
	defer func() { f.bearer = bearer; f.reset() }()
	return pushTo(t, f.host, &authn.Basic{Username: user, Password: password}, path, built{created: day(1)}.image(t), tags...)
}

func (f *authFake) credential(usableBy ...string) Credential {
	return Credential{Host: f.host, UsableBy: usableBy, Username: user, Secret: secret.New(password)}
}

// sent reports whether any request carried a credential.
func (f *fake) sent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.auths, func(a string) bool { return a != "" })
}

func TestCredential_basicAndToken(t *testing.T) {
	t.Parallel()
	for name, bearer := range map[string]bool{"basic": false, "token service": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newAuthFake(t)
			f.push(t, "tenant-b/web", "1.0.0")
			f.bearer = bearer
			c := newClient(t, Options{Credentials: []Credential{f.credential("github.com/*")}})
			for range 3 {
				s := mustSelect(t, c.For("github.com/2"), Request{Repository: f.repository(t, "tenant-b/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})})
				if !s.Found {
					t.Fatalf("selected %+v", s)
				}
			}
			if bearer && f.tokens.Load() != 1 {
				t.Errorf("%d tokens were asked for, want one login", f.tokens.Load())
			}
		})
	}
}

// A registry that refuses the password of a file gets the one that the file has by then.
func TestCredential_readsARefusedPasswordAgain(t *testing.T) {
	t.Parallel()
	for name, bearer := range map[string]bool{"basic": false, "token service": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newAuthFake(t)
			f.push(t, "tenant-b/web", "1.0.0")
			f.bearer = bearer
			mount := secrettest.NewMount(t, map[string]string{"password": "the password before"})
			credential := f.credential("github.com/*")
			credential.Secret = mount.Secret("password")
			c := newClient(t, Options{Credentials: []Credential{credential}})
			request := Request{Repository: f.repository(t, "tenant-b/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}
			if _, err := c.For("github.com/2").Select(t.Context(), request); fault.KindOf(err) != fault.Unauthorized {
				t.Fatalf("with the password before: %v", err)
			}
			mount.Swap(map[string]string{"password": password}) // within the second in which the file is not read again
			if s := mustSelect(t, c.For("github.com/2"), request); !s.Found {
				t.Errorf("selected %+v", s)
			}
		})
	}
}

func TestCredential_isNotUsedForOtherTenants(t *testing.T) {
	t.Parallel()
	f := newAuthFake(t)
	f.push(t, "tenant-b/web", "1.0.0")
	own := newFake(t)
	own.push(t, "tenant-a/web", built{created: day(1)}, "1.0.0")
	c := newClient(t, Options{Credentials: []Credential{f.credential("github.com/2")}})
	pass := c.Batch()
	r := Request{Repository: f.repository(t, "tenant-b/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}

	if s := mustSelect(t, pass.For("github.com/2"), r); !s.Found {
		t.Fatalf("its own tenant: %+v", s)
	}
	f.reset()
	for _, key := range []string{"github.com/1", "github.com/22", "github.com/2/x", "gitlab.com/2", ""} {
		s, err := pass.For(repositoryKey(key)).Select(t.Context(), r)
		if s.Found || fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("%q got %+v, %v", key, s, err)
		}
		if err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("the canary is out: %v", err)
		}
		if _, err := pass.For(repositoryKey(key)).Resolve(t.Context(), image.Reference{Repository: r.Repository, Tag: "1.0.0"}); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("%q resolved: %v", key, err)
		}
	}
	if f.sent() {
		t.Errorf("a credential was sent: %q", f.auths)
	}
	other := Request{Repository: own.repository(t, "tenant-a/web"), Policy: r.Policy}
	mustSelect(t, pass.For("github.com/2"), other)
	if own.sent() {
		t.Errorf("the credential of one host went to another: %q", own.auths)
	}
}

func TestCredential_metadataIsNotShared(t *testing.T) {
	t.Parallel()
	f, folder := newAuthFake(t), t.TempDir()
	digest := f.push(t, "tenant-b/web", "1.0.0")
	options := Options{CacheDir: folder, Credentials: []Credential{f.credential("github.com/2")}}
	c, r := newClient(t, options), f.repository(t, "tenant-b/web")
	if _, err := c.For("github.com/2").Describe(t.Context(), r, digest); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*Client{"in memory": c, "from the folder": newClient(t, options)} {
		if got, err := c.For("github.com/1").Describe(t.Context(), r, digest); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("%s: described %+v, %v", name, got, err)
		}
		if _, err := c.For("github.com/2").Describe(t.Context(), r, digest); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCredential_repositoriesNarrowIt(t *testing.T) {
	t.Parallel()
	f := newAuthFake(t)
	f.push(t, "tenant-b/web", "1.0.0")
	credential := f.credential("**")
	pattern, err := image.ParsePattern(f.host + "/tenant-b/*")
	if err != nil {
		t.Fatal(err)
	}
	credential.Repositories = []image.Pattern{pattern}
	c := newClient(t, Options{Credentials: []Credential{credential}})
	if _, err := c.For("git:https://git.example/a/b").Resolve(t.Context(), image.Reference{Repository: f.repository(t, "tenant-b/web"), Tag: "1.0.0"}); err != nil {
		t.Error(err)
	}
	f.reset()
	if _, err := c.For("a/1").Resolve(t.Context(), image.Reference{Repository: f.repository(t, "tenant-c/web"), Tag: "1"}); fault.KindOf(err) != fault.Unauthorized || f.sent() {
		t.Errorf("err = %v, sent %v", err, f.auths)
	}
}

func TestCredential_hostsAreNormalized(t *testing.T) {
	t.Parallel()
	c := newClient(t, Options{Credentials: []Credential{{Host: "index.docker.io", UsableBy: []string{"**"}, Username: "u", Secret: secret.New("p")}}})
	nginx, err := image.ParseRepository("nginx")
	if err != nil {
		t.Fatal(err)
	}
	if !c.credentials[0].matches("a/1", nginx) {
		t.Error("an entry for index.docker.io is none for Docker Hub")
	}
	for _, host := range []string{"", "https://quay.io", "quay.io/acme", "a b"} {
		if _, err := New(Options{Outbound: newOutbound(t), Now: c.options.Now, Credentials: []Credential{{Host: host}}}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("host %q: %v", host, err)
		}
	}
}

func TestCredential_sendsBareTokensUnchanged(t *testing.T) {
	t.Parallel()
	auth, err := entry{Credential: Credential{Secret: secret.New("t")}}.authenticator().Authorization()
	if err != nil || auth.RegistryToken != "t" {
		t.Errorf("authorization = %+v, %v", auth, err)
	}
	if (entry{}).authenticator() != authn.Anonymous {
		t.Error("an entry without a secret is not anonymous")
	}
}

// The repositories that fit an entry are worked out for each round. That one of them
// comes or goes costs the others nothing of what is known.
func TestCredential_cacheOutlivesUsableBy(t *testing.T) {
	t.Parallel()
	entry := Credential{Host: "r.example.com", UsableBy: []string{"forge:1"}, UsableAs: []string{"forge/acme/*"}, Username: user}
	more, other := entry, entry
	more.UsableBy = []string{"forge:1", "forge:2"}
	other.UsableAs = []string{"forge/globex/*"}
	ids := make([]string, 3)
	for i, c := range []Credential{entry, more, other} {
		id, err := identify(c)
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = id
	}
	if ids[0] != ids[1] {
		t.Error("a repository more makes another entry of it")
	}
	if ids[0] == ids[2] {
		t.Error("an entry for others is the same one")
	}
}

// env is an environment with some variables.
func env(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := variables[name]
		return value, set
	}
}

func TestUserEnv_logins(t *testing.T) {
	t.Parallel()
	f := newAuthFake(t)
	f.push(t, "tenant-b/web", "1.0.0")
	home := t.TempDir()
	person := env(map[string]string{"HOME": home})
	file := filepath.Join(home, ".docker", "config.json")
	ref := image.Reference{Repository: f.repository(t, "tenant-b/web"), Tag: "1.0.0"}
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, f.host, loginOf(user, password)))
	if _, err := newClient(t, Options{UserEnv: person}).For("local").Resolve(t.Context(), ref); err != nil {
		t.Errorf("with the configuration: %v", err)
	}
	f.reset()
	if _, err := newClient(t, Options{}).For("local").Resolve(t.Context(), ref); fault.KindOf(err) != fault.Unauthorized || f.sent() {
		t.Errorf("a server read the configuration of a user: %v", err)
	}
	write(`{"auths":{}}`)
	_, err := newClient(t, Options{UserEnv: person}).For("local").Resolve(t.Context(), ref)
	if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "docker login "+f.host) {
		t.Errorf("without an entry: %v", err)
	}
	write(`{"auths":` + password)
	_, err = newClient(t, Options{UserEnv: person}).For("local").Resolve(t.Context(), ref)
	if fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), password) {
		t.Errorf("a broken configuration: %v", err)
	}
}
