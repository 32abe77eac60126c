package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"promoter/internal/config"
	"promoter/internal/database"
	"promoter/internal/fault"
	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/store"
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
	Version      string // of this release, for traces
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

// OpenService is OpenServer for Serve, which wants a server's file: a service has no
// person's own environment.
func OpenService(options ServerOptions) (*Server, error) {
	if _, err := serviceFile(options); err != nil {
		return nil, err
	}
	return OpenServer(options)
}

// serviceFile finds the file of a service.
func serviceFile(options ServerOptions) (string, error) {
	file, found, err := findServerFile(options)
	if err == nil && !found {
		err = fault.New(fault.Invalid, "there is no %s here: name the server's file with --config", ServerFile)
	}
	return file, err
}

// openFile is OpenService for commands that work on no repository.
func openFile(options ServerOptions) (*Server, error) {
	name, err := serviceFile(options)
	if err != nil {
		return nil, err
	}
	file, err := loadServer(name, options.Env)
	if err != nil {
		return nil, err
	}
	return &Server{file: file, env: options.Env, now: options.Now}, nil
}

// Serve takes webhooks, polls, and looks at repositories until the context ends. The
// server is one of OpenService.
func (s *Server) Serve(ctx context.Context, options ServeOptions) (err error) {
	if options.Quiet == 0 {
		options.Quiet = defaultQuiet
	}
	if err := os.MkdirAll(s.file.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	untrace, err := s.trace(ctx, &options)
	if err != nil {
		return err
	}
	defer untrace()
	db, err := s.openDatabase(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	svc, err := s.service(ctx, db, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.rounds.close()) }()
	return svc.run(ctx)
}

// openDatabase opens SQLite in the data folder, or the server that the file names.
func (s *Server) openDatabase(ctx context.Context) (*database.DB, error) {
	if reference := s.file.Database.URL; !reference.IsZero() {
		url, err := reference.Resolve(s.sources())
		if err != nil {
			return nil, fmt.Errorf("database.url: %w", err)
		}
		return database.Open(ctx, database.Options{URL: url, CommitHook: s.around})
	}
	return database.Open(ctx, database.Options{Path: s.databasePath(), CommitHook: s.around, Now: s.now})
}

// databasePath is where the file of SQLite is.
func (s *Server) databasePath() string {
	return cmp.Or(s.file.Database.Path, filepath.Join(s.file.Data, "promoter.db"))
}

// service is a running Serve.
type service struct {
	*Server
	ServeOptions
	arrivals arrivals

	db     *database.DB
	queue  *queue.Queue
	store  *store.Store
	rounds *rounds
	http   *server.Server

	inflow    inflow
	troubles  troubles
	reopens   reopens
	histories histories
}

func (s *Server) service(ctx context.Context, db *database.DB, options ServeOptions) (*service, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	work, err := queue.New(ctx, db, host)
	if err != nil {
		return nil, err
	}
	s.metrics = s.newMetrics(work)
	kept := store.New(db)
	made := &service{
		Server: s, ServeOptions: options, db: db, queue: work, store: kept,
		rounds: &rounds{server: s, folder: s.file.Data, store: kept, log: options.Log},
	}
	receivers, err := s.receivers()
	if err != nil {
		return nil, err
	}
	setups, err := made.setups()
	if err != nil {
		return nil, err
	}
	token, err := s.apiToken()
	if err != nil {
		return nil, err
	}
	certificate, err := s.openCertificate(ctx, options.Log)
	if err != nil {
		return nil, err
	}
	made.http, err = server.New(server.Options{
		TLS:       certificate.config(),
		Receivers: receivers, Setups: setups, Inbox: made, Ready: db.Healthy, Metrics: s.metrics.Handler(), Admin: made, Token: token,
		Observe: func(o server.Observation) { s.metrics.Webhook(o.Receiver, o.Status, o.Took) },
		Trace:   made.followDelivery,
		Log:     options.Log, Now: s.now,
	})
	return made, err
}

// receivers makes those of the file.
func (s *Server) receivers() ([]*webhook.Receiver, error) {
	way, err := s.newWays()
	if err != nil {
		return nil, err
	}
	var all []*webhook.Receiver
	for _, entry := range s.file.Receivers {
		made, err := s.receiver(entry, &http.Client{Transport: way.forges})
		if errors.Is(err, errNoApp) {
			continue // it comes with the App
		}
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

func (s *Server) receiver(entry config.Receiver, client *http.Client) (*webhook.Receiver, error) {
	options := webhook.Options{
		Name: entry.Name, Kind: string(entry.Kind), Header: entry.Header, Audience: entry.Audience, Email: entry.Email,
		Anonymous: entry.Anonymous, HTTP: client, Now: s.now,
	}
	var err error
	if options.Secret, err = s.receiverSecret(entry); err == nil {
		options.PathSecret, err = s.secret(entry.PathSecret)
	}
	if err != nil {
		return nil, fmt.Errorf("receiver %s: %w", entry.Name, err)
	}
	return webhook.New(options)
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
		work := s.work
		work.Kinds = map[string]queue.Worker{
			kindOnboard: {Handler: s.onboard},
			kindArrival: {Handler: s.arrive},

			kindLane:  {Handler: s.look, Concurrency: atOnce},
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
