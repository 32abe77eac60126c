package service

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/fault"
	"promoter/internal/queue"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/serverfile"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// bench is a service whose work a test does by hand, one run after another. It works on
// acme/one and acme/two.
type bench struct {
	t           *testing.T
	service     *Service
	connections *connect.Connections
	store       *store.Store
	github      *githubtest.Server
	clock       *reconciletest.Clock
	token       atomic.Value
	two         *githubtest.Repository // acme/two
	argo        atomic.Value           // the response of Argo CD, as text
	argoURL     string
	registry    string // its host
	data        string // the folder of the service
	db          *database.DB

	registryDown     atomic.Bool
	registryRequests atomic.Int64
	registryLists    atomic.Int64 // requests for tags
	registryTag      atomic.Value // the only one; empty: there is none
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, clock: reconciletest.NewClock(time.Now().Truncate(time.Second))}
	b.github = githubtest.New(t, githubtest.Options{Now: b.clock.Now})
	b.registry = b.startRegistry()
	b.github.NewRepository("acme/one", filesFollowing(b.registry+"/acme/web")).Settings.Permit(githubtest.Self, "write")
	b.two = b.github.NewRepository("acme/two", filesFollowing(b.registry+"/acme/web"))
	b.two.Settings.Permit(githubtest.Self, "write")
	b.replaceToken()
	b.argoURL, b.data = b.startArgoCD(), t.TempDir()
	var err error
	b.db, err = database.Open(t.Context(), database.Options{Path: filepath.Join(b.data, "promoter.db"), Now: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.service.Close(); err != nil {
			t.Error(err)
		}
		if err := b.db.Close(); err != nil {
			t.Error(err)
		}
	})
	b.start(fmt.Sprintf(`repositories:
  - {forge: forge, name: acme/one}
  - {forge: forge, name: acme/two}
receivers:
  argo: {kind: argocd, poll: {url: "%s", token: "env:TOKEN", insecure: true}}
  limited: {kind: flux, secret: "env:TOKEN", repositories: ["*/acme/two"]}
`, b.argoURL))
	return b
}

// start makes the service of a server file, on the database that it had before.
func (b *bench) start(text string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "server.yaml")
	text = fmt.Sprintf(`version: 1
data: %q
poll: 5m
forges:
  forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}
registries: [{host: "%s", insecure: true}]
networks: [127.0.0.0/8]
%s`, b.data, b.github.URL(), b.registry, text)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	env := func(name string) (string, bool) { return b.currentToken(), name == "TOKEN" }
	server, err := serverfile.OpenService(serverfile.Options{WritePace: -1, Config: file, Env: env, Now: b.clock.Now})
	if err != nil {
		b.t.Fatal(err)
	}
	b.connections, err = connect.New(server, connect.Hooks{})
	if err != nil {
		b.t.Fatal(err)
	}
	work, err := queue.New(b.t.Context(), b.db, "test")
	if err != nil {
		b.t.Fatal(err)
	}
	b.store = store.New(b.db)
	b.service = New(Options{
		Connections: b.connections, DB: b.db, Queue: work, Store: b.store,
		Metrics: telemetry.New(telemetry.Options{Now: server.Now}), Log: slog.New(slog.DiscardHandler), Debounce: -1,
	})
}

// filesFollowing are the files of a repository that follows an image.
func filesFollowing(image string) map[string]string {
	return map[string]string{
		".promoter.yaml": "version: 1\ncomponents: {web: {image: " + image + ", select: {semver: '>=1'}}}\nenvironments: {dev: {paths: [dev], land: push}}\n",
		"dev/app.yaml":   "image: " + image + ":1.0.0\n",
	}
}

// startRegistry starts a registry that has no tags, or is down. It returns its host.
func (b *bench) startRegistry() string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.registryRequests.Add(1)
		if b.registryDown.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/tags/list") {
			b.registryLists.Add(1)
			tags := []string{}
			if tag, _ := b.registryTag.Load().(string); tag != "" {
				tags = append(tags, tag)
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"name": "acme/web", "tags": tags})
		}
	}))
	b.t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// startArgoCD starts an Argo CD server and returns its URL.
func (b *bench) startArgoCD() string {
	b.argo.Store(`{"items": null}`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/applications" || r.Header.Get("Authorization") != "Bearer "+b.currentToken() {
			http.Error(w, "refused", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, b.argo.Load().(string)) //nolint:forcetypeassert // nothing else is stored
	}))
	b.t.Cleanup(server.Close)
	return server.URL
}

// replaceToken lets promoter use another token from now on.
func (b *bench) replaceToken() {
	b.token.Store(b.github.Token(githubtest.Self, "repo", "read:org"))
}

func (b *bench) currentToken() string {
	return b.token.Load().(string) //nolint:forcetypeassert // nothing else is stored
}

// poll runs a poll, which must succeed. It returns when the next one is due.
func (b *bench) poll() time.Time {
	b.t.Helper()
	result, err := b.service.workers[KindPoll].Handler(b.t.Context(), queue.Item{Kind: KindPoll, Key: All})
	if err != nil {
		b.t.Fatal(err)
	}
	return result.Next
}

// current returns the refresh that a reconciliation would use.
func (b *bench) current() *refresh {
	b.t.Helper()
	current, release, err := b.service.refresher.acquire(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	release()
	return current
}

func (b *bench) key(name string) string {
	b.t.Helper()
	for key, r := range b.current().repositories {
		if r.Name == name {
			return key
		}
	}
	b.t.Fatalf("%s is not reconciled", name)
	return ""
}

func (b *bench) reconcile(key string) (queue.Result, error) {
	return b.service.workers[KindRepository].Handler(b.t.Context(), queue.Item{Kind: KindRepository, Key: key})
}

// isStored reports whether a repository is stored.
func (b *bench) isStored(key string) bool {
	b.t.Helper()
	_, err := b.store.Repository(b.t.Context(), key)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		b.t.Fatal(err)
	}
	return err == nil
}
