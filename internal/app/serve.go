package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"promoter/internal/access"
	"promoter/internal/activity"
	"promoter/internal/api"
	"promoter/internal/certificate"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/delivery"
	"promoter/internal/fault"
	"promoter/internal/githubapp"
	"promoter/internal/queue"
	"promoter/internal/seal"
	"promoter/internal/server"
	"promoter/internal/serverfile"
	"promoter/internal/service"
	"promoter/internal/service/adminapi"
	"promoter/internal/service/decisions"
	"promoter/internal/service/snapshots"
	"promoter/internal/signin"
	"promoter/internal/store"
	"promoter/internal/telemetry"
	"promoter/internal/view"
	"promoter/internal/web"
	"promoter/internal/webhook"
)

// ServeOptions configure Serve.
type ServeOptions struct {
	// Listener replaces the listen address of the server file; nil: that is used.
	Listener net.Listener
	DryRun   bool // observe and plan, write nothing to any repository
	// Debounce is how long to wait after a webhook before reconciling, so that many
	// webhooks lead to one reconciliation. Zero: 5 seconds; negative: no wait.
	Debounce time.Duration
	// MetricsListener replaces metrics.listen of the server file; nil: that is used.
	MetricsListener net.Listener
	Profiles        telemetry.Profiles // who may read them at the address of metrics
	Log             *slog.Logger
	Queue           queue.Options       // the timing of the queue, if not the default
	CommitHook      database.CommitHook // observes each commit of the database; nil: none
	Build           telemetry.Build     // this program, for metrics and traces
	// Listening, if set, is called with the address when the service accepts requests.
	Listening func(net.Addr)
}

// drainTimeout is how long requests and reconciliations in progress may continue when promoter stops. What does not end
// in another releaseTimeout after that is released for the next process. The rest of console.EndTimeout is for the last
// traces, and to close the database.
const (
	drainTimeout   = 12 * time.Second
	releaseTimeout = 2 * time.Second
)

// Serve receives webhooks, polls, and reconciles repositories until the context ends.
// The server is one of serverfile.OpenService.
func Serve(ctx context.Context, s *serverfile.Server, options ServeOptions) (err error) {
	if err := os.MkdirAll(s.File.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	db, err := openDatabase(ctx, s, options.CommitHook)
	if err != nil {
		return err
	}
	s.Files.LogTo(options.Log)
	err = assemble(ctx, s, db, options, listenAndWork)
	defer activity.Begin(ctx, "closing the database")()
	return errors.Join(err, db.Close())
}

// openDatabase opens SQLite in the data folder, or the server that the file names.
func openDatabase(ctx context.Context, s *serverfile.Server, hook database.CommitHook) (*database.DB, error) {
	defer activity.Begin(ctx, "opening the database")()
	if reference := s.File.Database.URL; !reference.IsZero() {
		url, err := s.Secret(reference)
		if err != nil {
			return nil, fmt.Errorf("database.url: %w", err)
		}
		return database.Open(ctx, database.Options{URL: url, CommitHook: hook})
	}
	return database.Open(ctx, database.Options{Path: s.DatabasePath(), CommitHook: hook, Now: s.Now})
}

// assembled are the parts of a service.
type assembled struct {
	server  *serverfile.Server
	web     *server.Server
	service *service.Service
	changes *api.Changes
	metrics http.Handler // for scraping
	options ServeOptions
}

// assemble makes the parts of a service on an open database, calls a function with them, and
// closes them.
func assemble(
	ctx context.Context, s *serverfile.Server, db *database.DB, options ServeOptions, run func(context.Context, assembled) error,
) (err error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	work, err := queue.New(ctx, db, host)
	if err != nil {
		return err
	}
	stored := store.New(db)
	if err := makeSealKey(ctx, s, stored, options.Log); err != nil {
		return err
	}
	sessions, err := newSessions(ctx, s, stored)
	if err != nil {
		return err
	}
	_, badges, err := s.APITokens()
	if err != nil {
		return err
	}
	var connections *connect.Connections
	metrics := newMetrics(s, work, stored, options.Build, func() []connect.Backoff { return connections.HostBackoffs() })
	connections, err = connect.New(s, connect.Hooks{Request: observeRequest(metrics), DigestCached: metrics.ImageMetadata})
	if err != nil {
		return err
	}
	connections.ReserveMemory()
	traces, err := newTraces(connections, host, options) //nolint:contextcheck // traces outlive the start
	if err != nil {
		return err
	}
	defer closeTraces(ctx, traces)
	if traces != nil {
		options.Log = slog.New(telemetry.LogHandler(options.Log.Handler()))
	}
	svc := service.New(service.Options{
		Connections: connections, DB: db, Queue: work, Store: stored, Metrics: metrics, Traces: traces,
		Log: options.Log, DryRun: options.DryRun, Debounce: options.Debounce,
	})
	defer func() { err = errors.Join(err, svc.Close()) }()
	parts := parts{
		server: s, db: db, queue: work, store: stored, connections: connections, service: svc, metrics: metrics,
		changes:  &api.Changes{Store: stored, Log: options.Log, Limited: metrics.Limited, Opened: metrics.Streams},
		sessions: sessions, badges: badges,
	}
	routes := parts.routes(options)
	routes.Trace = service.TraceWebhook(traces)
	answering, err := newServer(ctx, connections, stored.SignIns, options.Log, routes, svc.MarkStale)
	if err != nil {
		return err
	}
	scraped := telemetry.Endpoint(metrics.Handler(), options.Profiles)
	return run(ctx, assembled{s, answering, svc, parts.changes, scraped, options})
}

// parts are what the routes of the service answer from.
type parts struct {
	server      *serverfile.Server
	db          *database.DB
	queue       *queue.Queue
	store       *store.Store
	connections *connect.Connections
	service     *service.Service
	metrics     *telemetry.Metrics
	changes     *api.Changes
	sessions    *access.Sessions
	badges      access.Tokens
}

// routes returns the options of the server with what answers each route.
func (p parts) routes(options ServeOptions) server.Options {
	s, svc := p.server, p.service
	admin := &adminapi.API{Connections: p.connections, Queue: p.queue, Store: p.store, Inbox: svc.Inbox(), Unopened: svc.Unopened}
	userDecisions := decisions.New(s, svc, options.Log, options.DryRun)
	shown := &view.View{Store: p.store}
	delivered := func(ctx context.Context, query delivery.Query) (delivery.Report, error) {
		return delivery.Read(ctx, p.store.Milestones, query, s.Now())
	}
	return server.Options{
		Inbox: svc.Inbox(), Ready: p.db.Healthy,
		API: api.Options{
			Sessions:  p.sessions,
			Admin:     admin,
			Snapshots: &snapshots.API{Server: s, Service: svc, Store: p.store, Log: options.Log, DryRun: options.DryRun}, Now: s.Now,
			Decisions: userDecisions, Reconciler: userDecisions,
			View: shown, Changes: p.changes, Metrics: delivered,
		},
		Pages: web.Pages(web.Options{
			Sessions: p.sessions, Badges: p.badges, View: shown, Reader: admin, Changes: p.changes, Metrics: delivered,
			Decisions: userDecisions, Log: options.Log, Now: s.Now,
		}),
		Limited: p.metrics.Limited,
		Observe: func(o server.Observation) { p.metrics.Webhook(o.Receiver, o.Status, o.Took) },
	}
}

// makeSealKey makes the key of the seals if the server file names none. With PostgreSQL,
// where each replica has a data folder of its own, the database has it.
func makeSealKey(ctx context.Context, s *serverfile.Server, stored *store.Store, log *slog.Logger) error {
	if len(s.File.Seal.Keys) > 0 {
		return nil
	}
	if !s.File.Database.URL.IsZero() {
		key, err := stored.Keys.Seal(ctx, seal.Generate())
		if err != nil {
			return fmt.Errorf("read the key for seals: %w", err)
		}
		s.UseSealKey(key)
		return nil
	}
	file, err := s.MakeSealKey()
	if file != "" {
		log.InfoContext(ctx, "made a key for seals: back it up, or set seal.keys", slog.String("file", file))
	}
	return err
}

// newSessions returns the sessions of browsers with their key: that of the server file, or one
// that is made, as that of the seals.
func newSessions(ctx context.Context, s *serverfile.Server, stored *store.Store) (*access.Sessions, error) {
	sessions, err := serverfile.Sessions(s)
	if err != nil || sessions == nil {
		return nil, err
	}
	sessions.Key, err = serverfile.SessionKey(s)
	switch {
	case err != nil || !sessions.Key.IsZero():
	case !s.File.Database.URL.IsZero():
		sessions.Key, err = stored.Keys.Session(ctx, seal.Generate())
	default:
		sessions.Key, err = serverfile.MakeSessionKey(s)
	}
	return sessions, err
}

// newServer completes the options with what the server file configures. The function is
// called when a GitHub App was created.
func newServer(
	ctx context.Context, c *connect.Connections, completed signin.Completed, log *slog.Logger, options server.Options, appCreated func(),
) (web *server.Server, err error) {
	options.Log = log
	options.Now = c.Server.Now
	options.Proxies = c.Server.File.Proxies
	if options.Receivers, err = receivers(c); err != nil {
		return nil, err
	}
	if options.SignIn, err = connect.SignIn(c, options.API.Sessions, completed, log); err != nil {
		return nil, err
	}
	options.Setups, err = githubapp.Setups(c, func(forge string, app serverfile.StoredApp) []string {
		appCreated()
		return useApp(c.Server, web, log, forge, app)
	})
	if err != nil {
		return nil, err
	}
	opened, err := certificate.Open(ctx, c.Server.Certificate(), log)
	if err != nil {
		return nil, err
	}
	options.TLS = opened.Config()
	return server.New(options) //nolint:contextcheck // requests have contexts of their own
}

// receivers returns the webhook receivers of the server file. Those of GitHub Apps that
// do not exist yet are added later, by useApp.
func receivers(c *connect.Connections) ([]*webhook.Receiver, error) {
	var all []*webhook.Receiver
	for _, entry := range c.Server.File.Receivers {
		receiver, err := c.Server.NewReceiver(entry, &http.Client{Transport: c.HTTP.Forges})
		if errors.Is(err, serverfile.ErrNoApp) || errors.Is(err, serverfile.ErrPollOnly) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, receiver)
	}
	return all, nil
}

// useApp accepts the webhooks of a GitHub App that was created. Its repositories come
// with the next refresh, which the webhook about the installation triggers. It returns
// the text of the page.
func useApp(s *serverfile.Server, web *server.Server, log *slog.Logger, forge string, app serverfile.StoredApp) []string {
	log.Info("GitHub App created", slog.String("forge", forge), slog.String("app", app.Slug), slog.Int64("id", app.ID),
		slog.String("owner", app.Owner))
	entry, ok := serverfile.AppReceiver(s.File, forge)
	if !ok {
		return []string{"Nothing needs to be restarted.", "promoter sees the repositories with the next poll."}
	}
	receiver, err := s.NewReceiver(entry, http.DefaultClient) // receivers of this kind fetch no keys
	if err != nil {
		log.Error("webhooks of the GitHub App are not accepted", slog.Any("error", err))
		return []string{"Restart promoter: it cannot accept the webhooks of the App yet. The log has the error."}
	}
	web.Add(receiver)
	return []string{"Nothing needs to be restarted: promoter starts to work on the repositories on which you install the App."}
}

// listenAndWork answers requests and does the work, until the context ends or one of
// them fails.
func listenAndWork(ctx context.Context, a assembled) error {
	scraped, err := listenMetrics(ctx, a.server, a.options)
	if err != nil {
		return err
	}
	if scraped != nil {
		defer func() { _ = scraped.Close() }() // serving it closes it too
	}
	listener := a.options.Listener
	if listener == nil {
		if listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", a.server.File.Listen); err != nil {
			return fault.New(fault.Invalid, "listen: %w: another program may have the port; set listen in the server file", err)
		}
	}
	if err := a.service.Start(ctx); err != nil {
		return errors.Join(err, listener.Close())
	}
	if scraped != nil {
		a.options.Log.InfoContext(ctx, "metrics served", slog.String("address", scraped.Addr().String()))
	}
	if a.options.Listening != nil {
		a.options.Listening(listener.Addr())
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.web.Listen(ctx, listener, drainTimeout) })
	if scraped != nil {
		group.Go(func() error { return serveMetrics(ctx, scraped, a.metrics, a.web.TLS) })
	}
	group.Go(func() error { return a.changes.Run(ctx) })
	group.Go(func() error {
		timing := a.options.Queue
		timing.Drain, timing.Grace = drainTimeout, releaseTimeout
		return a.service.Run(ctx, timing)
	})
	return group.Wait()
}
