package app_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/connect"
	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/serverfile"
)

// orchard is a GitHub with one App, and a registry with a new version.
type orchard struct {
	*world
	github *githubtest.Server
	app    *githubtest.App
	notes  []string
	cache  string // empty: the same one for every run
	dryRun bool

	mu    sync.Mutex
	clock time.Time
}

func newOrchard(t *testing.T) *orchard {
	t.Helper()
	o := &orchard{world: newWorld(t, nil), clock: time.Now().Truncate(time.Second)}
	o.github = githubtest.New(t, githubtest.Options{Now: o.now})
	o.app = o.github.NewApp("promoter", needed())
	o.push("acme/web:1.4.0", "one")
	o.push("acme/web:1.5.0", "two")
	return o
}

// needed are the permissions of the table.
func needed() map[string]string {
	all := map[string]string{}
	for _, p := range github.Permissions() {
		all[p.Name] = p.Access
	}
	return all
}

func (o *orchard) now() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.clock
}

func (o *orchard) pass(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clock = o.clock.Add(d)
}

func (o *orchard) repository(name string, files map[string]string) *githubtest.Repository {
	o.t.Helper()
	expanded := map[string]string{}
	for file, content := range files {
		expanded[file] = o.expand(content)
	}
	return o.github.NewRepository(name, expanded)
}

// open opens a server file with the App, limited to some repositories.
func (o *orchard) open(more string, narrowed ...string) (*connect.Connections, error) {
	o.t.Helper()
	file := o.serverFile("server.yaml", o.ofApp(), more)
	return connect.Connect(serverfile.Options{WritePace: -1, Config: file, Repositories: narrowed, Env: environ(), Now: o.now})
}

// ofApp is the forge in a server file, with the key of the App in a file.
func (o *orchard) ofApp() string {
	return fmt.Sprintf(`github: {kind: github, url: "%s", insecure: true, app: {id: %d, key: "file:%s"}}`, o.github.URL(), o.app.ID(), o.write("app.pem", o.app.Key()))
}

func (o *orchard) run(more string, narrowed ...string) map[string]app.Result {
	o.t.Helper()
	server, err := o.open(more, narrowed...)
	if err != nil {
		o.t.Fatal(err)
	}
	o.notes = nil
	results, err := app.Run(o.t.Context(), server, app.RunOptions{
		CacheDir: cmp.Or(o.cache, filepath.Join(o.dir, "cache")), DryRun: o.dryRun, Note: func(note string) { o.notes = append(o.notes, note) },
	})
	if err != nil {
		o.t.Fatal(err)
	}
	if text := fmt.Sprint(results, o.notes); strings.Contains(text, "ghs_") || strings.Contains(text, "eyJ") {
		o.t.Errorf("a token is shown: %s", text)
	}
	return byName(results)
}

// did describes the result of a repository.
func did(result app.Result) string {
	if result.Failed() {
		return fmt.Sprint("failed: ", result.Err, result.Report.Unusable, result.Report.Errors)
	}
	return fmt.Sprint(acts(result))
}
