package registry

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/crypto/bcrypt"

	"promoter/internal/fault"
	"promoter/internal/image"
)

// The real registries. Their programs are found by these variables, or on PATH.
const (
	debianVariable = "PROMOTER_DOCKER_REGISTRY" // Debian's docker-registry, distribution 2.8
	threeVariable  = "PROMOTER_DISTRIBUTION"    // distribution 3
)

func program(t testing.TB, variable, name string) string {
	t.Helper()
	if path := os.Getenv(variable); path != "" {
		return path
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not on PATH and %s is not set", name, variable)
	}
	return path
}

var listening = regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)

// serve starts a registry with a configuration and puts a recorder before it.
func serve(t testing.TB, program, config string) *fake {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "config.yml")
	config = fmt.Sprintf("version: 0.1\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: '127.0.0.1:0'}\n%s", filepath.Join(folder, "data"), config)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, "serve", file)
	command.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	output, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	address := waitFor(t, output)
	return before(t, httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address}))
}

// waitFor reads the log until the registry logs its address.
func waitFor(t testing.TB, output io.Reader) string {
	t.Helper()
	lines, said := bufio.NewScanner(output), ""
	for lines.Scan() {
		said += lines.Text() + "\n"
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return found[1]
		}
	}
	t.Fatalf("the registry did not start:\n%s", said)
	return ""
}

// htpasswd makes the configuration of a login.
func htpasswd(t *testing.T) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "htpasswd")
	if err := os.WriteFile(file, fmt.Appendf(nil, "%s:%s\n", user, hash), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("auth: {htpasswd: {realm: acme, path: %q}}\n", file)
}

// pushTags pushes one image and gives it more tags.
func pushTags(t *testing.T, f *fake, auth authn.Authenticator, path string, tags []string) string {
	t.Helper()
	img := built{created: day(1), labels: map[string]string{keyRevision: "abc"}}.image(t)
	digest := pushTo(t, f.host, auth, path, img, tags[0])
	for _, tag := range tags[1:] {
		if err := remote.Tag(mustTag(t, f.host, path, tag), img, remote.WithAuth(auth)); err != nil {
			t.Fatal(err)
		}
	}
	f.reset()
	return digest
}

func TestCounterpart_dockerRegistry(t *testing.T) {
	t.Parallel()
	f := serve(t, program(t, debianVariable, "docker-registry"), htpasswd(t))
	auth := &authn.Basic{Username: user, Password: password}
	tags := manyTags(40)
	digest := pushTags(t, f, auth, "tenant-b/web", tags)
	f.pushAuthIndex(t, auth, "tenant-b/multi", "2.0.0")
	credential := (&authFake{fake: f}).credential("github.com/2")
	r := Request{Repository: f.repository(t, "tenant-b/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}

	t.Run("login, tags, digest, facts", func(t *testing.T) {
		s := mustSelect(t, newClient(t, Options{Credentials: []Credential{credential}}).For("github.com/2"), r)
		want := image.Version{Tag: "1.0.39", Version: "1.0.39", Digest: digest, Created: day(1), Revision: "abc", Platforms: []string{"linux/amd64"}}
		if !s.Found || fmt.Sprint(s.Version) != fmt.Sprint(want) {
			t.Errorf("selected %+v, want %+v", s, want)
		}
	})
	t.Run("an index", func(t *testing.T) {
		multi := Request{Repository: f.repository(t, "tenant-b/multi"), Policy: r.Policy, Platforms: []string{"linux/arm64"}}
		s := mustSelect(t, newClient(t, Options{Credentials: []Credential{credential}}).For("github.com/2"), multi)
		if !s.Found || !s.Version.Created.Equal(day(4)) {
			t.Errorf("selected %+v", s)
		}
	})
	t.Run("another tenant sends no credential", func(t *testing.T) {
		f.reset()
		c := newClient(t, Options{Credentials: []Credential{credential}})
		_, err := c.For("github.com/1").Select(t.Context(), r)
		if fault.KindOf(err) != fault.Unauthorized || f.sent() {
			t.Errorf("err = %v, sent %q", err, f.auths)
		}
	})
	t.Run("a wrong password", func(t *testing.T) {
		wrong := credential
		wrong.Username = "nobody"
		_, err := newClient(t, Options{Credentials: []Credential{wrong}}).For("github.com/2").Select(t.Context(), r)
		if fault.KindOf(err) != fault.Unauthorized || strings.Contains(err.Error(), password) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("a refused page size", func(t *testing.T) {
		f.answer = func(w http.ResponseWriter, r *http.Request) bool {
			if n := r.URL.Query().Get("n"); strings.HasSuffix(r.URL.Path, "/tags/list") && len(n) > 2 {
				http.Error(w, "n is too large", http.StatusBadRequest)
				return true
			}
			return false
		}
		f.reset()
		s := mustSelect(t, newClient(t, Options{Credentials: []Credential{credential}}).For("github.com/2"), r)
		if !s.Found || s.Version.Tag != "1.0.39" || f.count("tags/list") != 5 {
			t.Errorf("selected %+v after %d pages", s, f.count("tags/list"))
		}
	})
	t.Run("a pause, other hosts unaffected", func(t *testing.T) {
		f.answer = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		other := newFake(t)
		other.push(t, "acme/web", built{created: day(1)}, "1.0.0")
		pass := newClient(t, Options{Credentials: []Credential{credential}}).Batch()
		_, err := pass.For("github.com/2").Select(t.Context(), r)
		if at, ok := fault.RetryAt(err); !ok || time.Until(at) < 9*time.Minute {
			t.Errorf("err = %v until %v", err, at)
		}
		f.reset()
		if _, err := pass.For("github.com/2").Resolve(t.Context(), image.Reference{Repository: r.Repository, Tag: "1.0.1"}); fault.KindOf(err) != fault.RateLimited || f.count("") != 0 {
			t.Errorf("asked in the pause %d times: %v", f.count(""), err)
		}
		if s := mustSelect(t, pass.For("github.com/2"), webRequest(t, other)); !s.Found {
			t.Errorf("the other host: %+v", s)
		}
	})
}

// pushAuthIndex pushes an index of two platforms with a login.
func (f *fake) pushAuthIndex(t *testing.T, auth authn.Authenticator, path, tag string) {
	t.Helper()
	index := indexOf(t, nil, []built{{platform: "linux/amd64", created: day(2)}, {platform: "linux/arm64", created: day(4)}})
	if err := remote.WriteIndex(mustTag(t, f.host, path, tag), index, remote.WithAuth(auth)); err != nil {
		t.Fatal(err)
	}
}

func TestCounterpart_distribution3(t *testing.T) {
	t.Parallel()
	f := serve(t, program(t, threeVariable, "registry"), "")
	digest := pushTags(t, f, authn.Anonymous, "acme/web", manyTags(45))
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}
	t.Run("pages with links", func(t *testing.T) {
		s := mustSelect(t, newClient(t, Options{Limits: Limits{PageSize: 10}}).For("a/1"), r)
		if !s.Found || s.Version.Tag != "1.0.44" || s.Version.Digest != digest || f.count("tags/list") != 5 {
			t.Errorf("selected %+v after %d pages", s, f.count("tags/list"))
		}
	})
	t.Run("a page size beyond its own", func(t *testing.T) {
		s := mustSelect(t, newClient(t, Options{Limits: Limits{PageSize: 100_000}}).For("a/1"), r)
		if !s.Found || s.Version.Tag != "1.0.44" {
			t.Errorf("selected %+v", s)
		}
	})
	t.Run("in passes", func(t *testing.T) {
		c := newClient(t, Options{Limits: Limits{PageSize: 10, Tags: 20}})
		for range 2 {
			if s := mustSelect(t, c.For("a/1"), r); !s.Incomplete {
				t.Errorf("selected %+v", s)
			}
		}
		if s := mustSelect(t, c.For("a/1"), r); !s.Found || s.Version.Tag != "1.0.44" {
			t.Errorf("selected %+v at the end", s)
		}
	})
	t.Run("not there", func(t *testing.T) {
		v := newClient(t, Options{}).For("a/1")
		if _, err := v.Resolve(t.Context(), image.Reference{Repository: r.Repository, Tag: "9"}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("tag: %v", err)
		}
		if _, err := v.Select(t.Context(), Request{Repository: f.repository(t, "acme/none"), Policy: r.Policy}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("repository: %v", err)
		}
	})
	t.Run("newest", func(t *testing.T) {
		pushTo(t, f.host, authn.Anonymous, "acme/web", built{created: day(8)}.image(t), "main-1")
		pushTo(t, f.host, authn.Anonymous, "acme/web", built{created: day(6)}.image(t), "main-2")
		s := mustSelect(t, newClient(t, Options{}).For("a/1"), Request{Repository: r.Repository, Policy: mustPolicy(t, image.Selection{Newest: "^main-"})})
		if !s.Found || s.Version.Tag != "main-1" {
			t.Errorf("selected %+v", s)
		}
	})
}
