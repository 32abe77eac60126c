package app_test

import (
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/database/databasetest"
	"promoter/internal/registry/registrytest"
)

// world is a folder, and a registry on loopback.
type world struct {
	t        testing.TB
	dir      string
	host     string // of the registry
	registry *registrytest.Server
}

// newWorld writes the files; $R in them is the host of the registry.
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

// push pushes an image and returns its digest; the same seed gives the same one.
func (w *world) push(reference, seed string) string {
	w.t.Helper()
	return w.registry.Push(w.t, reference, seed)
}

// TestMain isolates the tests from the logins of the user and from the internet. A
// process that is to serve does only that.
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
