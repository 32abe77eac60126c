package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/fault"
	"promoter/internal/githubapp"
	"promoter/internal/outbound"
	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/store"
	"promoter/internal/telemetry"
	"promoter/internal/webhook"
)

// ServeOptions say how the service works.
type ServeOptions struct {
	// Listener takes the place of `listen` in the server's file; nil: that is used.
	Listener net.Listener
	DryRun   bool // observe and plan, write nothing to any repository
	// Quiet is how long a repository is left alone after a hint, so that many hints
	// make one look. Zero: 5 seconds; below zero: none.
	Quiet time.Duration
	// Profiles is the address at which profiles of the process are shown; empty: they
	// are not. Only one of this machine, unless ProfilesOpen.
	Profiles     string
	ProfilesOpen bool
	Log          *slog.Logger
	Queue        queue.Options       // how the work queue works, if not as usual
	CommitHook   database.CommitHook // observes each commit of the database; nil: none
	Version      string              // of this release, for traces
	// Listening is called with the address once requests are answered; nil: nobody
	// wants to know.
	Listening func(net.Addr)
}

// The quiet time, and how far a stream of hints can draw it out.
const (
	defaultQuiet = 5 * time.Second
	quietTimes   = 6
)

// drainFor is how long requests and looks under way may take when promoter stops.
const drainFor = 20 * time.Second

// Serve receives webhooks, polls, and reconciles repositories until the context ends.
// The server is one of connect.OpenService.
func Serve(ctx context.Context, s *connect.Server, options ServeOptions) (err error) {
	if err := os.MkdirAll(s.File.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	db, err := openDatabase(ctx, s, options.CommitHook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return serveOn(ctx, s, db, options)
}

// serveOn is Serve with a database that is open.
func serveOn(ctx context.Context, s *connect.Server, db *database.DB, options ServeOptions) (err error) {
	svc, err := newService(ctx, s, db, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.close(ctx)) }()
	return svc.run(ctx)
}

// openDatabase opens SQLite in the data folder, or the server that the file names.
func openDatabase(ctx context.Context, s *connect.Server, hook database.CommitHook) (*database.DB, error) {
	if reference := s.File.Database.URL; !reference.IsZero() {
		url, err := s.Secret(reference)
		if err != nil {
			return nil, fmt.Errorf("database.url: %w", err)
		}
		return database.Open(ctx, database.Options{URL: url, CommitHook: hook})
	}
	return database.Open(ctx, database.Options{Path: s.DatabasePath(), CommitHook: hook, Now: s.Now})
}

// service is a running Serve.
type service struct {
	ServeOptions
	server      *connect.Server
	connections *connect.Connections
	file        *serverconfig.Config // that of server
	now         func() time.Time
	arrivals    arrivals

	db      *database.DB
	queue   *queue.Queue
	store   *store.Store
	rounds  *rounds
	http    *server.Server
	metrics *telemetry.Metrics
	traces  *telemetry.Traces // nil: none are made

	inflow    inflow
	troubles  troubles
	reopens   reopens
	histories histories
}

func newService(ctx context.Context, s *connect.Server, db *database.DB, options ServeOptions) (_ *service, err error) {
	if options.Quiet == 0 {
		options.Quiet = defaultQuiet
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	work, err := queue.New(ctx, db, host)
	if err != nil {
		return nil, err
	}
	made := &service{ServeOptions: options, server: s, file: s.File, now: s.Now, db: db, queue: work, store: store.New(db)}
	made.metrics = newMetrics(s.File, s.Now, made.hostBackoffs, work)
	made.connections, err = connect.New(s, connect.Hooks{
		Request: func(ctx context.Context, to string, answer outbound.Exchange) {
			observeRequest(ctx, made.metrics, to, answer)
		},
		DigestCached: made.metrics.ImageMetadata,
	})
	if err != nil {
		return nil, err
	}
	if made.traces, err = newTraces(made.connections, host, options); err != nil { //nolint:contextcheck // traces outlive the start
		return nil, err
	}
	defer func() {
		if err != nil {
			made.closeTraces(ctx)
		}
	}()
	if made.traces != nil {
		made.Log = slog.New(telemetry.LogHandler(options.Log.Handler()))
	}
	made.rounds = &rounds{connections: made.connections, clock: s.Now, folder: s.File.Data, store: made.store, log: made.Log}
	receivers, err := receivers(made.connections)
	if err != nil {
		return nil, err
	}
	setups, err := githubapp.Setups(made.connections, made.appCreated)
	if err != nil {
		return nil, err
	}
	token, err := s.APIToken()
	if err != nil {
		return nil, err
	}
	certificate, err := s.OpenCertificate(ctx, made.Log)
	if err != nil {
		return nil, err
	}
	made.http, err = server.New(server.Options{
		TLS:       certificate.Config(),
		Receivers: receivers, Setups: setups, Inbox: made, Ready: db.Healthy, Metrics: made.metrics.Handler(), Admin: made, Token: token,
		Observe: func(o server.Observation) { made.metrics.Webhook(o.Receiver, o.Status, o.Took) },
		Trace:   made.followDelivery,
		Log:     made.Log, Now: s.Now,
	})
	return made, err
}

// close ends the present refresh and sends the last traces.
func (s *service) close(ctx context.Context) error {
	defer s.closeTraces(ctx)
	return s.rounds.close()
}

// hostBackoffs are the backoffs of hosts for the metrics.
func (s *service) hostBackoffs() (all []telemetry.Backoff) {
	now := s.now()
	for _, one := range s.connections.HostBackoffs() {
		all = append(all, telemetry.Backoff{Peer: one.To, Host: one.Host, Remaining: one.Until.Sub(now)})
	}
	return all
}

// receivers makes those of the file.
func receivers(c *connect.Connections) ([]*webhook.Receiver, error) {
	var all []*webhook.Receiver
	for _, entry := range c.Server.File.Receivers {
		made, err := c.Server.NewReceiver(entry, &http.Client{Transport: c.HTTP.Forges})
		if errors.Is(err, connect.ErrNoApp) {
			continue // it comes with the App
		}
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

// run answers requests and does the work, until the context ends or one of them
// cannot go on.
func (s *service) run(ctx context.Context) error {
	profiles, err := s.listenProfiles(ctx)
	if err != nil {
		return err
	}
	if profiles != nil {
		defer func() { _ = profiles.Close() }() // it is closed already when it was served
	}
	listener := s.Listener
	if listener == nil {
		if listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", s.file.Listen); err != nil {
			return fault.New(fault.Invalid, "listen: %w: another program may have the port; set listen in the server's file", err)
		}
	}
	s.tellClock(ctx)
	if err := s.queue.Trigger(ctx, queue.Trigger{Kind: kindPoll, Key: everything}, queue.Trigger{Kind: kindSweep, Key: everything}); err != nil {
		return errors.Join(err, listener.Close())
	}
	if s.Listening != nil {
		s.Listening(listener.Addr())
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.http.Listen(ctx, listener, drainFor) })
	if profiles != nil {
		group.Go(func() error { return s.serveProfiles(ctx, profiles) })
	}
	group.Go(func() error {
		work := s.Queue
		work.Kinds = map[string]queue.Worker{
			kindOnboard: {Handler: s.onboard},
			kindArrival: {Handler: s.arrive},

			kindLane:  {Handler: s.look, Concurrency: connect.Parallel},
			kindPoll:  {Handler: s.poll},
			kindSweep: {Handler: s.sweep},

			kindSchedule: {Handler: s.fire},
		}
		work.Log, work.Random, work.Drain = s.Log, rand.Float64, drainFor
		work.Trace = s.followRun
		return s.queue.Run(ctx, work)
	})
	return group.Wait()
}
