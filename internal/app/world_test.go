package app_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	fake "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"promoter/internal/app"
	"promoter/internal/database/databasetest"
	"promoter/internal/promotion"
)

// world is a folder, and a real registry on loopback that writes down what it is
// asked.
type world struct {
	t    testing.TB
	dir  string
	host string

	mutex sync.Mutex
	asked []string
	hook  http.HandlerFunc                // answers instead of the registry where it writes
	wrap  func(http.Handler) http.Handler // stands before the registry
}

// newWorld writes the files; $R in them is the registry's host.
func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	registry := fake.New(fake.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		w.mutex.Lock()
		hook, wrap := w.hook, w.wrap
		if request.Header.Get("X-Test") == "" {
			w.asked = append(w.asked, request.Method+" "+request.URL.Path)
		}
		w.mutex.Unlock()
		if hook != nil {
			hook(response, request)
			return
		}
		if wrap != nil {
			wrap(registry).ServeHTTP(response, request)
			return
		}
		registry.ServeHTTP(response, request)
	}))
	t.Cleanup(server.Close)
	w.host = strings.TrimPrefix(server.URL, "http://")
	for name, content := range files {
		w.write(name, content)
	}
	return w
}

func (w *world) write(name, content string) {
	w.t.Helper()
	full := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(w.expand(content)), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) expand(text string) string { return strings.ReplaceAll(text, "$R", w.host) }

func (w *world) read(name string) string {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

// push pushes an image and returns its digest; the same seed gives the same one.
func (w *world) push(reference, seed string) string {
	w.t.Helper()
	tag, err := name.NewTag(w.host + "/" + reference)
	if err != nil {
		w.t.Fatal(err)
	}
	image, err := mutate.Config(empty.Image, v1.Config{Labels: map[string]string{"seed": seed}})
	if err != nil {
		w.t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := remote.Write(tag, image, remote.WithTransport(quiet{})); err != nil {
		w.t.Fatal(err)
	}
	return digest.String()
}

// quiet marks the requests of the test itself.
type quiet struct{}

func (quiet) RoundTrip(request *http.Request) (*http.Response, error) {
	request.Header.Set("X-Test", "1")
	return http.DefaultTransport.RoundTrip(request)
}

// questions returns how often the registry was asked about a repository.
func (w *world) questions(repository string) (n int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, asked := range w.asked {
		if strings.Contains(asked, "/v2/"+repository+"/") {
			n++
		}
	}
	return n
}

func (w *world) answer(hook http.HandlerFunc) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.hook = hook
}

func (w *world) given(texts ...string) promotion.ExplicitVersions {
	w.t.Helper()
	for i := range texts {
		texts[i] = w.expand(texts[i])
	}
	given, err := promotion.ParseExplicitVersions(texts, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return given
}

func (w *world) options() app.Options {
	w.t.Helper()
	registries, err := app.NewRegistries(app.RegistryOptions{Now: time.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	return app.Options{Versions: registries.Versions(), Now: time.Now}
}

func (w *world) open(given promotion.ExplicitVersions) *app.Checkout {
	w.t.Helper()
	checkout, err := app.OpenCheckout(w.dir, given)
	if err != nil {
		w.t.Fatal(err)
	}
	return checkout
}

func (w *world) tryPlan(ctx context.Context, options app.Options) (*app.Checkout, *app.Preview, error) {
	w.t.Helper()
	checkout := w.open(options.Given)
	preview, err := checkout.Plan(ctx, options)
	return checkout, preview, err
}

func (w *world) plan(options app.Options) (*app.Checkout, *app.Preview) {
	w.t.Helper()
	checkout, preview, err := w.tryPlan(w.t.Context(), options)
	if err != nil {
		w.t.Fatal(err)
	}
	return checkout, preview
}

// apply plans and writes.
func (w *world) apply(options app.Options) app.Applied {
	w.t.Helper()
	checkout, preview := w.plan(options)
	applied, err := checkout.Apply(w.t.Context(), preview)
	if err != nil {
		w.t.Fatal(err)
	}
	return applied
}

// hashed ends the name of a component that a pattern found; the registry's port
// is part of it.
var hashed = regexp.MustCompile(`-[0-9a-f]{6}\b`)

// expect compares the places of a plan, each as "environment/application state:
// reason".
func (w *world) expect(options app.Options, want ...string) *app.Preview {
	w.t.Helper()
	_, preview := w.plan(options)
	w.compare(preview, want...)
	return preview
}

func (w *world) compare(preview *app.Preview, want ...string) {
	w.t.Helper()
	var got []string
	for _, target := range preview.Places {
		text := fmt.Sprintf("%s/%s %s: %s", target.Environment, target.Application, target.State, target.Reason)
		got = append(got, hashed.ReplaceAllString(text, "-HASH"))
	}
	for i := range want {
		want[i] = w.expand(want[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("places (-want +got):\n%s", diff)
	}
}

// TestMain keeps the person's own logins out, and the internet. A process that is to
// serve does that and nothing else.
func TestMain(m *testing.M) {
	if text := os.Getenv(servedVariable); text != "" {
		if err := serveAsChild(text); err != nil {
			log.Fatal(err)
		}
		return
	}
	dir, err := os.MkdirTemp("", "no-docker-config")
	if err != nil {
		log.Fatal(err)
	}
	_ = os.Setenv("DOCKER_CONFIG", dir)
	if err := online.join(); err != nil {
		log.Fatal(err)
	}
	databasetest.Main(m) // the process ends with its code
	_ = os.RemoveAll(dir)
}
