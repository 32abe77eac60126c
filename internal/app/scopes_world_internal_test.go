package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/drift"
	"promoter/internal/edit"
	"promoter/internal/promotion"
	"promoter/internal/queue"
	"promoter/internal/serverfile"
	"promoter/internal/service"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// scopes are the ways in which something is hidden: each has a token of the API, and one of badges.
var scopes = map[string]string{
	"repositories": `repositories: ["github.com/acme/shop"]`,
	"environments": `repositories: ["**"], environments: [dev, staging]`,
	"applications": `repositories: ["**"], applications: [web, api]`,
	"targets":      `repositories: ["*/acme/shop"], environments: [dev, staging], applications: [web, api]`,
}

// hides reports whether a scope hides a target.
func hides(scope string, repository, environment, application string) bool {
	return (scope == "repositories" || scope == "targets") && repository != "github.com/acme/shop" ||
		(scope == "environments" || scope == "targets") && !slices.Contains([]string{"dev", "staging"}, environment) ||
		(scope == "applications" || scope == "targets") && !slices.Contains([]string{"web", "api"}, application)
}

// tenants is a service with a database.
type tenants struct {
	*testing.T
	parts   parts
	handler http.Handler
	routes  []*echo.Route
	scope   string
}

var scopeClock = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func token(name string) string { return (name + strings.Repeat("-0123456789abcdef", 4))[:48] }

// newTenants starts all that answers requests, and nothing that works.
func newTenants(t *testing.T, kind databasetest.Kind, scope string) *tenants {
	t.Helper()
	now := func() time.Time { return scopeClock }
	options := kind.New(t)
	if options.Path != "" {
		options.Now = now
	}
	dir := t.TempDir()
	public := ""
	if scope == "targets" {
		public = "\n  public: {" + scopes[scope] + "}"
	}
	file := filepath.Join(dir, "server.yaml")
	must(t, os.WriteFile(file, []byte(fmt.Sprintf(`version: 1
data: %q
forges: {f: {kind: git, url: "https://git.example.com"}}
repositories: [{forge: f, name: acme/gitops}]
receivers: {images: {kind: github, secret: "env:images"}}
api:
  token: "env:everything"%s
  tokens:
    scoped: {token: "env:scoped", roles: [operate], %s}
  badges:
    scoped: {token: "env:badge", %s}
    everything: {token: "env:anybadge", repositories: ["**"]}
`, dir, public, scopes[scope], scopes[scope])), 0o600))
	s, err := serverfile.OpenService(serverfile.Options{
		Config: file, Env: func(name string) (string, bool) { return token(name), !strings.HasPrefix(name, "PROMOTER_") }, Now: now,
	})
	must(t, err)
	db := databasetest.Open(t, options)
	stored := store.New(db)
	work, err := queue.New(t.Context(), db, "test")
	must(t, err)
	sessions, err := newSessions(t.Context(), s, stored)
	must(t, err)
	_, badges, err := s.APITokens()
	must(t, err)
	metrics := newMetrics(s, work, stored, telemetry.Build{}, func() []connect.Backoff { return nil })
	connections, err := connect.New(s, connect.Hooks{})
	must(t, err)
	log := slog.New(slog.DiscardHandler)
	svc := service.New(service.Options{Connections: connections, DB: db, Queue: work, Store: stored, Metrics: metrics, Log: log})
	t.Cleanup(func() { must(t, svc.Close()) })
	w := &tenants{T: t, scope: scope, parts: parts{
		server: s, db: db, queue: work, store: stored, connections: connections, service: svc, metrics: metrics,
		changes: &api.Changes{Store: stored, Log: log, Every: time.Millisecond}, sessions: sessions, badges: badges,
	}}
	routes := w.parts.routes(ServeOptions{Log: log})
	pages := routes.Pages
	var router *echo.Echo
	routes.Pages = func(e *echo.Echo) error { router = e; return pages(e) }
	w.handler, err = newServer(t.Context(), connections, stored.SignIns, log, routes, func() {})
	must(t, err)
	w.routes = router.Routes()
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write stores in one transaction.
func (w *tenants) write(change func(ctx context.Context, tx *database.Tx) error) {
	w.Helper()
	must(w.T, w.parts.db.Update(w.Context(), change))
}

const (
	shop   = "github.com/acme/shop"
	hidden = "github.com/acme/hidden"
)

// keyOf is the key of a repository.
func keyOf(repository string) string {
	if repository == hidden {
		return "github.com/1"
	}
	return "github.com/2"
}

func versionsOf(texts ...string) (all []store.EventVersion) {
	for _, text := range texts {
		component, tag, _ := strings.Cut(text, ":")
		all = append(all, store.EventVersion{Component: component, Repository: "quay.io/acme/" + component, Tag: tag})
	}
	return all
}

// full is a target with everything that a target can have.
func full(environment, application string, after ...string) store.Target {
	at := scopeClock.Add(-time.Hour)
	return store.Target{
		Environment: environment, Application: application, After: after, Branch: "main", Paths: []string{environment}, State: "proposed",
		Rule: "parent", Message: environment + " of " + application, Current: versionsOf(application+":1.4.0", "web:1.5.0"),
		Wanted: versionsOf(application + ":1.5.0"), Number: 7, URL: "https://github.com/acme/shop/pull/7",
		Posted: "release-1", Labels: map[string]string{"team": application}, Monitored: true,
		Detail: store.TargetDetail{
			Propose: "automatic", Land: "pr", Opened: at, ApprovedBy: []string{"ada"}, Notes: []string{"a note about " + application},
			Gates:   []promotion.Condition{{Name: "approvals", State: promotion.Pending, Value: "1 of 2"}},
			Health:  &store.TargetHealth{Status: "Healthy", Sync: "Synced", Since: at, Actual: versionsOf("web:1.4.0"), ActualStatus: "Healthy"},
			Hold:    &store.TargetHold{Kind: store.HoldHold, By: "ada", At: at, Scope: environment},
			Request: &store.TargetRequest{By: "ada", At: at},
		},
	}
}

// happened are events of a target, beginning some minutes before noon.
func happened(repository, environment, application string, minutes int, components ...string) (all []store.Event) {
	for i, action := range []string{store.EventOpened, store.EventLanded, store.EventHealthy, "hold"} {
		all = append(all, store.Event{
			At: scopeClock.Add(time.Duration(i-minutes) * time.Minute), Since: scopeClock.Add(-24 * time.Hour), Repository: keyOf(repository), Name: repository,
			Environment: environment, Application: application, Action: action, Snapshot: "v1:" + application, Versions: versionsOf(components...),
			Commit: fmt.Sprintf("%040x", minutes), Number: minutes, User: "ada", Message: action + " in " + environment,
		})
	}
	return all
}

// open stores what the scope shows.
func (w *tenants) open() {
	w.Helper()
	targets := []store.Target{full("dev", "web"), full("dev", "api"), full("staging", "web", "dev"), full("staging", "api", "dev")}
	var events []store.Event
	for i, t := range targets {
		events = append(events, happened(shop, t.Environment, t.Application, 100-20*i, t.Application+":1.5.0", "web:1.4.0")...)
	}
	w.write(func(ctx context.Context, tx *database.Tx) error {
		if err := w.parts.store.Targets.Set(ctx, tx, keyOf(shop), targets); err != nil {
			return err
		}
		if err := w.parts.store.Details.Set(ctx, tx, keyOf(shop), store.FoundDigest{All: "a", Config: "b"}, store.RepositoryDetail{Config: "version: 1"}); err != nil {
			return err
		}
		_, err := w.parts.store.RecordReconciliation(ctx, tx, store.Repository{Key: keyOf(shop), Forge: "f", Host: "github.com", Name: "acme/shop"},
			store.HistoryUpdate{Events: events})
		return err
	})
	w.drifts(drift.Drift{Kind: drift.Ahead, Environment: "dev", Application: "web", Message: "newer"})
	w.post("web", "release-1")
}

func (w *tenants) drifts(all ...drift.Drift) {
	w.Helper()
	text, err := json.Marshal(all)
	must(w.T, err)
	w.write(func(ctx context.Context, tx *database.Tx) error {
		return w.parts.store.Targets.SetDrift(ctx, tx, keyOf(shop), string(text))
	})
}

// post stores a posted snapshot of an application of shop.
func (w *tenants) post(application, name string) {
	w.Helper()
	must(w.T, w.parts.store.Snapshots.Save(w.Context(), store.Snapshot{
		Repository: keyOf(shop), Application: application, Name: name, Receiver: "ci", PostedAt: scopeClock.Add(-2 * time.Hour),
		Content: []byte(`{}`), Images: map[string]string{application: "quay.io/acme/" + application + ":1.5.0"},
	}))
}

// more is more than any limit of what a search reads.
const more = 210

// hide adds what the scope hides: repositories, environments, and applications, beside those that it
// shows and with the same versions, more than any limit, and of all times.
func (w *tenants) hide() {
	w.Helper()
	targets := map[string][]store.Target{} // by repository
	var events []store.Event
	add := func(repository, environment, application string, minutes int) {
		if !hides(w.scope, repository, environment, application) || repository == hidden && !w.hidesRepositories() {
			return
		}
		targets[repository] = append(targets[repository], full(environment, application))
		if minutes > 0 {
			events = append(events, happened(repository, environment, application, minutes, application+":1.5.0", "keys:6.6.6")...)
		}
	}
	minutes := 200
	for _, repository := range []string{hidden, shop} {
		for _, environment := range []string{"secret", "dev"} {
			for _, application := range []string{"vault", "web"} {
				minutes -= 19 // between those of the readable targets
				add(repository, environment, application, minutes)
			}
			for i := 0; i < more && len(targets[hidden])+len(targets[shop]) < more; i++ {
				add(repository, environment, fmt.Sprintf("a-%03d", i), 0)
			}
		}
	}
	known, err := w.parts.store.Targets.List(w.Context(), keyOf(shop), "", "")
	must(w.T, err)
	w.write(func(ctx context.Context, tx *database.Tx) error {
		if err := w.parts.store.Targets.Set(ctx, tx, keyOf(shop), append(targets[shop], known...)); err != nil {
			return err
		}
		if w.hidesRepositories() {
			return w.hideRepository(ctx, tx, targets[hidden], events)
		}
		_, err := w.parts.store.AddEvents(ctx, tx, events)
		return err
	})
	if w.scope != "repositories" {
		w.hideInShop()
	}
}

func (w *tenants) hidesRepositories() bool { return w.scope == "repositories" || w.scope == "targets" }

func (w *tenants) hideRepository(ctx context.Context, tx *database.Tx, targets []store.Target, events []store.Event) error {
	if err := w.parts.store.Targets.Set(ctx, tx, keyOf(hidden), targets); err != nil {
		return err
	}
	key := store.TargetKey{Repository: keyOf(hidden), Environment: "secret", Application: "vault"}
	if _, err := w.parts.store.RecordReconciliation(ctx, tx, store.Repository{Key: keyOf(hidden), Forge: "f", Host: "github.com", Name: "acme/hidden", Failure: "503"},
		store.HistoryUpdate{Events: events, Times: []store.PromotionTime{{TargetKey: key, Snapshot: "v1:vault", Kind: store.TimeOfCommit, Name: "keys", Began: scopeClock}}}); err != nil {
		return err
	}
	if err := w.parts.store.Targets.SetDrift(ctx, tx, keyOf(hidden), `[{"kind":"shared","message":"keys"}]`); err != nil {
		return err
	}
	if err := w.parts.store.Deliveries.Save(ctx, tx, store.Delivery{Receiver: "images", ID: "1", EventType: "push"}); err != nil {
		return err
	}
	return w.parts.queue.TriggerIn(ctx, tx, queue.Trigger{Kind: service.KindRepository, Key: keyOf(hidden)})
}

// hideInShop hides what belongs to no target, in a repository of which the scope shows a part.
func (w *tenants) hideInShop() {
	w.Helper()
	w.drifts(
		drift.Drift{Kind: drift.Shared, Message: "vault and secret share keys.yaml"},
		drift.Drift{Kind: drift.Ahead, Environment: "secret", Application: "vault", Message: "newer"},
		drift.Drift{Kind: drift.Ahead, Environment: "dev", Application: "web", Message: "newer"},
	)
	for _, name := range []string{"release-1", "secret-1"} {
		w.post("vault", name)
		w.post("unreconciled", name)
	}
	w.write(func(ctx context.Context, tx *database.Tx) error {
		return w.parts.store.Details.Set(ctx, tx, keyOf(shop), store.FoundDigest{All: "c", Config: "d"}, store.RepositoryDetail{
			Config: "version: 1 # secret, vault", Problems: config.Problems{{Severity: config.SeverityWarning, Message: "vault"}},
			Refused: store.ListOf([]store.RefusedFile{{Environment: "secret", Application: "vault", Refusal: edit.Refusal{File: "keys.yaml"}}}),
		})
	})
}
