package checkout_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/checkout"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/outbound"
	"promoter/internal/registry"
	"promoter/internal/registry/registrytest"
)

// world is a folder, and a registry on loopback.
type world struct {
	t        testing.TB
	dir      string
	host     string // of the registry
	registry *registrytest.Server
}

// newWorld writes the files; $R in them is the registry's host.
func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), registry: registrytest.New(t)}
	w.host = w.registry.Host
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
	return w.registry.Push(w.t, reference, seed)
}

func (w *world) given(texts ...string) image.ExplicitVersions {
	w.t.Helper()
	for i := range texts {
		texts[i] = w.expand(texts[i])
	}
	given, err := image.ParseExplicitVersions(texts, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return given
}

func (w *world) options() checkout.Options {
	w.t.Helper()
	guarded, err := outbound.New(outbound.Options{AllowLoopback: true, Now: time.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	registries, err := registry.New(registry.Options{Outbound: guarded, Now: time.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	return checkout.Options{Versions: registries.For(identity.RepositoryKey("")), Now: time.Now}
}

func (w *world) open(given image.ExplicitVersions) *checkout.Checkout {
	w.t.Helper()
	opened, err := checkout.Open(w.dir, given)
	if err != nil {
		w.t.Fatal(err)
	}
	return opened
}

func (w *world) tryPlan(ctx context.Context, options checkout.Options) (*checkout.Checkout, *checkout.Preview, error) {
	w.t.Helper()
	opened := w.open(options.Explicit)
	preview, err := opened.Plan(ctx, options)
	return opened, preview, err
}

func (w *world) plan(options checkout.Options) (*checkout.Checkout, *checkout.Preview) {
	w.t.Helper()
	opened, preview, err := w.tryPlan(w.t.Context(), options)
	if err != nil {
		w.t.Fatal(err)
	}
	return opened, preview
}

// apply plans and writes.
func (w *world) apply(options checkout.Options) checkout.Applied {
	w.t.Helper()
	opened, preview := w.plan(options)
	applied, err := opened.Apply(w.t.Context(), preview)
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
func (w *world) expect(options checkout.Options, want ...string) *checkout.Preview {
	w.t.Helper()
	_, preview := w.plan(options)
	w.compare(preview, want...)
	return preview
}

func (w *world) compare(preview *checkout.Preview, want ...string) {
	w.t.Helper()
	var got []string
	for _, target := range preview.Targets {
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
