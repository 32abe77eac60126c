package app_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/connect"
	"promoter/internal/database/databasetest"
	"promoter/internal/doctor"
	"promoter/internal/registry/registrytest"
	"promoter/internal/rendered"
	"promoter/internal/serverfile"
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

// write writes a file and returns its path.
func (w *world) write(name, content string) string {
	w.t.Helper()
	return writeFile(w.t, filepath.Join(w.dir, name), w.expand(content))
}

func writeFile(t testing.TB, file, content string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
	return file
}

// serverFile writes a server file with one forge, NAME: {...}, and returns its path. The
// registry of the world is asked without TLS.
func (w *world) serverFile(name, forge, more string) string {
	w.t.Helper()
	return w.write(name, "version: 1\nnetworks: [127.0.0.0/8]\nforges:\n  "+forge+"\n"+more+"\n"+insecureRegistry)
}

// environ is an environment of NAME, VALUE, ...
func environ(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// connected connects to what a server file lists.
func connected(t testing.TB, file string, env func(string) (string, bool), now func() time.Time) *connect.Connections {
	t.Helper()
	connections, err := connect.Connect(serverfile.Options{WritePace: -1, Config: file, Env: env, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return connections
}

// openService opens the server file of a service.
func openService(t testing.TB, file string, env func(string) (string, bool), now func() time.Time) *serverfile.Server {
	t.Helper()
	opened, err := serverfile.OpenService(serverfile.Options{WritePace: -1, Config: file, Env: env, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// checked runs doctor with a server file, and returns a line for each finding: VERDICT
// SUBJECT: MESSAGE (FIX).
func checked(t testing.TB, file string, env func(string) (string, bool), now func() time.Time) string {
	t.Helper()
	findings, err := doctor.Check(t.Context(), serverfile.Options{WritePace: -1, Config: file, Env: env, Now: now}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range findings {
		lines = append(lines, fmt.Sprintf("%s %s: %s (%s)", f.Verdict, f.Subject, f.Message, f.Fix))
	}
	return strings.Join(lines, "\n")
}

func (w *world) expand(text string) string { return strings.ReplaceAll(text, "$R", w.host) }

// push pushes an image and returns its digest; the same seed gives the same one.
func (w *world) push(reference, seed string) string {
	w.t.Helper()
	return w.registry.Push(w.t, reference, seed)
}

// TestMain isolates the tests from the internet. A process that is to serve does only that.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, rendered.Command) { // a child process that renders manifests
		if err := rendered.Child(os.Stdin, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	if text := os.Getenv(servedVariable); text != "" {
		if err := serveAsChild(text); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := online.join(); err != nil {
		log.Fatal(err)
	}
	databasetest.Main(m) // the process ends with its code
}
