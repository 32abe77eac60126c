package service

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/evidence"
	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/queue"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/state"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// outside is everything that the destinations and engines of a server file are.
type outside struct {
	url      string
	requests atomic.Int64
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		o.requests.Add(1)
		_, _ = io.WriteString(w, `{"id": "7"}`)
	}))
	t.Cleanup(server.Close)
	o.url = server.URL
	return o
}

// permissive is a server file that permits everything to both repositories.
func (o *outside) permissive() string {
	return fmt.Sprintf(`repositories: [{forge: forge, name: acme/one}, {forge: forge, name: acme/two}, {forge: forge, name: acme/empty}]
onboarding: {repositories: ["*/acme/*"]}
receivers:
  argo: {kind: argocd, poll: {url: "%[1]s", token: "env:TOKEN", insecure: true}}
  gone: {kind: argocd, poll: {url: "%[1]s", token: "env:TOKEN", insecure: true}}
notify:
  destinations:
    chat: {repositories: ["*/acme/*"], mattermost: {server: "%[1]s", token: "env:TOKEN", channel: releases, insecure: true}}
    gone: {repositories: ["*/acme/*"], mattermost: {server: "%[1]s", token: "env:TOKEN", channel: releases, insecure: true}}
afterLanding:
  flux: {repositories: ["*/acme/*"], flux: {url: "%[1]s", receiver: flux-system/gitops, token: "env:TOKEN", insecure: true}}
  gone: {repositories: ["*/acme/*"], flux: {url: "%[1]s", receiver: flux-system/gitops, token: "env:TOKEN", insecure: true}}
  staging: {repositories: ["*/acme/*"], flux: {url: "%[1]s", receiver: flux-system/gitops, token: "env:TOKEN", insecure: true}}
  web: {repositories: ["*/acme/*"], flux: {url: "%[1]s", receiver: flux-system/gitops, token: "env:TOKEN", insecure: true}}
  argo: {repositories: ["*/acme/*"], argocd: {receiver: argo, action: sync}}
  moved: {repositories: ["*/acme/*"], argocd: {receiver: argo, action: sync}}
`, o.url)
}

// restricted is what the operator leaves of it: acme/one stays, and may use what has no other scope now.
func (o *outside) restricted() string {
	return fmt.Sprintf(`repositories: [{forge: forge, name: acme/one}]
receivers:
  argo: {kind: argocd, poll: {url: "%[1]s", token: "env:TOKEN", insecure: true}, repositories: ["*/others/*"]}
notify:
  destinations:
    chat: {repositories: ["*/others/*"], mattermost: {server: "%[1]s", token: "env:TOKEN", channel: releases, insecure: true}}
    open: {repositories: ["*/acme/*"], mattermost: {server: "%[1]s", token: "env:TOKEN", channel: releases, insecure: true}}
afterLanding:
  flux: {repositories: ["*/others/*"], flux: {url: "%[1]s", receiver: flux-system/gitops, token: "env:TOKEN", insecure: true}}
  open: {repositories: ["*/acme/*"], flux: {url: "%[1]s", receiver: flux-system/gitops, token: "env:TOKEN", insecure: true}}
  staging: {repositories: ["*/acme/*"], environments: [staging], flux: {url: "%[1]s", receiver: flux-system/gitops, token: "env:TOKEN", insecure: true}}
  web: {repositories: ["*/acme/*"], applications: [web], flux: {url: "%[1]s", receiver: flux-system/gitops, token: "env:TOKEN", insecure: true}}
  argo: {repositories: ["*/acme/*"], argocd: {receiver: argo, action: sync}}
  moved: {repositories: ["*/acme/*"], flux: {url: "%[1]s", receiver: flux-system/gitops, token: "env:TOKEN", insecure: true}}
`, o.url)
}

// queued is work that waits while the server file changes.
type queued struct {
	key      string
	forgets  bool   // in the end
	requests int64  // to destinations and engines
	recorded string // why it was not sent, as the status and the history have it
}

// message queues a message of a repository.
func (b *bench) message(repository, destination string) string {
	b.t.Helper()
	id := destination + " " + repository
	err := b.db.Update(b.t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return b.store.Notifications.Save(ctx, tx, []store.Notification{{
			ID: id, Repository: repository, Destination: destination, Events: 1,
			Message: `{"id": "1", "application": "shop", "environment": "dev", "repository": "r", "events": [{"id": "2", "state": "landed"}]}`,
		}})
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// landed returns the key of a request after a landing.
func (b *bench) landed(r landingRequest) string {
	b.t.Helper()
	key, err := r.key()
	if err != nil {
		b.t.Fatal(err)
	}
	return key
}

// Every kind of work asks what is permitted when it is done, and not when it was queued. What may not be done
// leads to no request, ends after some attempts, and has a reason where failures are shown. A new kind of work
// fails until it has a row.
func TestWorkers_askWhatIsPermittedNow(t *testing.T) {
	t.Parallel()
	b, o := newBench(t), newOutside(t)
	offered := b.github.NewRepository("acme/empty", map[string]string{"README.md": "x"})
	offered.Settings.Permit(githubtest.Self, "write")
	b.start(o.permissive())
	one, two, empty := b.key("acme/one"), b.key("acme/two"), b.key("acme/empty")
	for _, key := range []string{one, two} {
		if _, err := b.reconcile(key); err != nil {
			t.Fatal(err)
		}
	}
	b.report("argo", "argocd/web", "acme/one")
	sends := b.rowsOfSends(one, two)
	rows := map[string][]queued{
		KindRepository:   {{key: two, forgets: true}},
		KindPoll:         {{key: All}},                        // it reads the server file, and triggers
		KindSchedule:     {{key: "0 6 * * *", forgets: true}}, // it triggers
		KindHealth:       {{key: "gone", forgets: true}},
		kindAfterLanding: sends[kindAfterLanding],
		kindTurn:         {{key: All}}, // it triggers
		kindDiscovery:    {{key: b.host() + "/acme/two", forgets: true}},
		kindOnboarding:   {{key: empty, forgets: true}},
		kindRetention:    {{key: All}}, // it deletes by what the server file keeps now
		KindNotification: sends[KindNotification],
	}
	kinds := slices.Sorted(maps.Keys(b.service.workers))
	if diff := cmp.Diff(kinds, slices.Sorted(maps.Keys(rows))); diff != "" {
		t.Fatalf("each kind of work needs a row (-work +rows):\n%s", diff)
	}
	if err := b.service.Close(); err != nil {
		t.Fatal(err)
	}
	b.start(o.restricted())
	for _, kind := range kinds {
		for _, row := range rows[kind] {
			b.runsQueued(o, kind, row)
		}
	}
	if opened := offered.Pulls.All(); len(opened) > 0 {
		t.Errorf("pull requests were opened: %+v", opened)
	}
}

// rowsOfSends are what is queued for destinations and engines.
func (b *bench) rowsOfSends(one, two string) map[string][]queued {
	const noDestination = "there is no such destination that this repository may use"
	request := func(destination, repository, application, subject string, requests int64, recorded string) queued {
		key := b.landed(landingRequest{destination, repository, "dev", application, subject})
		if recorded != "" {
			recorded = destination + ": not sent: " + recorded
		}
		return queued{key: key, forgets: true, requests: requests, recorded: recorded}
	}
	message := func(destination, repository string, requests int64, recorded string) queued {
		return queued{key: b.message(repository, destination), forgets: true, requests: requests, recorded: recorded}
	}
	return map[string][]queued{
		kindAfterLanding: {
			request("open", one, "shop", "", 1, ""),
			request("flux", one, "shop", "", 0, noDestination),
			request("gone", one, "shop", "", 0, noDestination),
			request("staging", one, "shop", "", 0, "it is not for shop in dev any more"),
			request("web", one, "shop", "", 0, "it is not for shop in dev any more"),
			request("web", one, state.All, "", 0, "it is not for these applications in dev any more"),
			request("argo", one, "shop", "argocd/web", 0, "no receiver reports the Application argocd/web to this repository any more"),
			request("moved", one, "shop", "argocd/web", 0, "it is for another GitOps engine now"),
			request("argo", one, "shop", "", 0, "it is for another GitOps engine now"),
			request("open", two, "shop", "", 0, notFollowed),
		},
		KindNotification: {
			message("open", one, 1, ""),
			message("chat", one, 0, `there is no destination "chat" that this repository may use`),
			message("gone", one, 0, `there is no destination "gone" that this repository may use`),
			message("open", two, 0, notFollowed),
		},
	}
}

// runsQueued does work until it ends, as the queue does, and verifies what it led to.
func (b *bench) runsQueued(o *outside, kind string, row queued) {
	b.t.Helper()
	before := o.requests.Load()
	var err error
	var result queue.Result
	for attempt := 1; attempt <= 12; attempt++ {
		if result, err = b.service.workers[kind].Handler(b.t.Context(), queue.Item{Kind: kind, Key: row.key, Attempt: attempt}); err == nil {
			break
		}
		b.clock.Add(time.Minute) // the queue waits
	}
	if err != nil || result.Forget != row.forgets {
		b.t.Errorf("%s %s: it ends with %+v, %v", kind, row.key, result, err)
	}
	if got := o.requests.Load() - before; got != row.requests {
		b.t.Errorf("%s %s: %d requests, want %d", kind, row.key, got, row.requests)
	}
	if got := b.recorded(kind, row.key); !strings.HasSuffix(got, row.recorded) || got == "" != (row.recorded == "") {
		b.t.Errorf("%s %s: recorded %q, want %q", kind, row.key, got, row.recorded)
	}
}

// recorded returns the reason that was recorded last for something that was not sent.
func (b *bench) recorded(kind, key string) string {
	b.t.Helper()
	switch kind {
	case KindNotification:
		row, err := b.store.Notifications.One(b.t.Context(), key)
		if err != nil || row.Sent != row.Events {
			b.t.Errorf("the message %s is still to be sent: %+v, %v", key, row, err)
		}
		return row.Error
	case kindAfterLanding:
		request, _ := parseLandingRequest(key)
		text := ""
		err := b.db.View(b.t.Context(), func(ctx context.Context, tx *database.Tx) error {
			return tx.Query(ctx, func(scan database.Scan) error { return scan(&text) },
				"select message from history where repository = ? and action = ? and message like ? and application = ? order by at limit 100",
				request.repository, store.EventAfterLanding, request.destination+":%", request.application)
		})
		if err != nil {
			b.t.Fatal(err)
		}
		return text
	}
	return ""
}

// report stores that an Application of Argo CD is deployed from a repository.
func (b *bench) report(receiver, subject, repository string) {
	b.t.Helper()
	err := b.db.Update(b.t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return b.store.Health.SaveReports(ctx, tx, []evidence.Report{{
			Health:       health.Report{Receiver: receiver, Source: health.ArgoCD, Subject: subject},
			Repositories: []event.Repository{{Host: b.host(), Name: repository}},
		}})
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) host() string { return strings.TrimPrefix(b.github.URL(), "http://") }

// The name that counts is the one that the repository has now, whatever it had when the forges were read.
func TestPermissions_areOfThePresentName(t *testing.T) {
	t.Parallel()
	b, o := newBench(t), newOutside(t)
	b.start(strings.ReplaceAll(o.permissive(), "*/acme/*", "*/acme/two"))
	two := b.key("acme/two")
	if _, err := b.reconcile(two); err != nil {
		t.Fatal(err)
	}
	refused := func(want string) {
		t.Helper()
		got, err := b.service.permissions().refuseNotification(t.Context(), two, "chat")
		if err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	refused("")
	b.two.Settings.Rename("acme/renamed")
	if _, err := b.reconcile(two); err != nil {
		t.Fatal(err)
	}
	refused(`there is no destination "chat" that this repository may use`)
	b.two.Settings.Rename("acme/two")
	if _, err := b.reconcile(two); err != nil {
		t.Fatal(err)
	}
	refused("")
	// While it cannot be opened, it is not known whether it may.
	b.github.Revoke(b.currentToken())
	b.clock.Add(10 * time.Minute)
	if got, err := b.service.permissions().refuseNotification(t.Context(), two, "chat"); fault.KindOf(err) != fault.Temporary || got != "" {
		t.Errorf("a repository that cannot be opened: %q, %v", got, err)
	}
}

func (s *Service) permissions() permissions {
	return permissions{refresher: s.refresher, store: s.store}
}

// A dry run sends nothing, also of what an earlier process queued. It stays queued.
func TestNew_sendsNothingInADryRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	kinds := slices.Sorted(maps.Keys(b.service.workers))
	server := b.connections.Server
	dry := New(Options{
		Connections: b.connections, DB: b.db, Queue: b.service.queue, Store: b.store, Metrics: telemetry.New(telemetry.Options{Now: server.Now}),
		Log: slog.New(slog.DiscardHandler), DryRun: true,
	})
	want := slices.DeleteFunc(kinds, func(kind string) bool { return kind == kindAfterLanding || kind == KindNotification })
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(dry.workers))); diff != "" {
		t.Errorf("kinds of work (-want +got):\n%s", diff)
	}
}

// What a token of the API reported counts while its scope permits it.
func TestHealthReports_countWhileTheirTokenMayReport(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tokens := func(scope string) string {
		return `repositories: [{forge: forge, name: acme/one}]
api: {tokens: {tests: {token: "env:TOKEN", roles: [evidence], ` + scope + `}}}
`
	}
	b.start(tokens(`environments: [dev, prod]`))
	err := b.db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return b.store.Health.SaveReports(ctx, tx, []evidence.Report{
			{Health: health.Report{Source: health.API, Receiver: "tests", Subject: "dev", Status: health.Healthy}},
			{Health: health.Report{Source: health.API, Receiver: "tests", Subject: "prod/shop", Status: health.Healthy}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	usable := func(want ...string) {
		t.Helper()
		reports, err := newHealthReports(b.store, b.connections.Server, b.current().repositories[b.key("acme/one")]).Reports(t.Context(), []string{"tests"})
		var got []string
		for _, one := range reports {
			got = append(got, one.Subject)
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	usable("dev", "prod/shop")
	for scope, want := range map[string][]string{
		`environments: [dev]`:                        {"dev"},
		`environments: [prod], applications: [shop]`: {"prod/shop"},
		`repositories: ["*/others/*"]`:               nil,
	} {
		if err := b.service.Close(); err != nil {
			t.Fatal(err)
		}
		b.start(tokens(scope))
		usable(want...)
	}
}
