// Package service is the work of a running promoter: it turns webhooks, schedules, and
// the poll into reconciliations.
//
// All work goes through the queue of the database, so that it survives a crash and is
// shared between replicas:
//
//   - Inbox stores an accepted webhook together with the work that it triggers.
//   - The poll refreshes forges and repositories. At its start, a process triggers all
//     repositories; from then on, each has its turns in the poll interval.
//   - Schedules of config files trigger the repositories that use them.
//   - A reconciliation is the work on one repository. It runs on a workspace
//     and records the result: what the repository subscribes to, and its history.
//   - Discovery, onboarding, and retention run beside them.
//
// A trigger carries no data. Every reconciliation observes the repository, the forge, and
// the registries itself, so a lost, repeated, or forged trigger changes only the time of
// the reconciliation.
package service

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"promoter/internal/comments"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/git"
	"promoter/internal/memory"
	"promoter/internal/queue"
	"promoter/internal/scan"
	"promoter/internal/service/history"
	"promoter/internal/service/notifications"
	"promoter/internal/store"
	"promoter/internal/telemetry"
	"promoter/internal/workspace"
)

// The kinds of work in the queue. They are stored: a rename loses work.
const (
	KindRepository = "repository" // reconcile one repository; the key is its key
	KindPoll       = "poll"       // refresh, and trigger repositories that are new or gone
	KindSchedule   = "schedule"   // trigger the repositories of a schedule; the key is the schedule
	KindHealth     = "health"     // read the Applications of an Argo CD server; the key is the receiver

	kindAfterLanding = "landing" // ask a GitOps engine to deploy what landed; the key is that of a landingRequest
	kindDiscovery    = "arrival" // check a repository that a webhook named; the key is HOST/OWNER/NAME
	kindTurn         = "turn"    // trigger the repositories whose turn it is
	kindOnboarding   = "onboard" // offer a config file to a repository without one; the key is its key
	kindRetention    = "sweep"   // delete old data

	KindNotification = "notification" // send a message; the key is its ID

	// All is the key of work that exists once.
	All = "all"
)

// The default debounce, and its limit as a multiple when triggers keep coming.
const (
	defaultDebounce = 5 * time.Second
	maxDebounces    = 6
)

// One more repository than connect.Parallel is reconciled at once, because one owner never
// uses all workers. maxParallel is how many repositories are reconciled at once while some wait for slow
// hosts.
const maxParallel = 16

// Limits of each of the two memories that are kept between reconciliations, for what was found in
// files and for what was decided: an eighth of the limit of the process, at most 128 MiB. Of a
// repository with 20,000 files, each needs 14 MiB. What was read of mirrors has half of it.
const (
	keptShare = 8
	maxKept   = 128 << 20
)

// notificationsAtOnce is how many messages are sent at once: one slow service does not delay others.
const notificationsAtOnce = 4

// Options are the parts that a Service works with. All are required except Traces.
type Options struct {
	Connections *connect.Connections
	DB          *database.DB
	Queue       *queue.Queue
	Store       *store.Store
	Metrics     *telemetry.Metrics
	Traces      *telemetry.Traces // nil: nothing is traced
	Log         *slog.Logger
	DryRun      bool // observe and plan, write nothing to any repository
	// Debounce is how long to wait after a webhook before reconciling, so that many
	// webhooks lead to one reconciliation. Zero: 5 seconds; negative: no wait.
	Debounce time.Duration
}

// Service does the work of the queue.
type Service struct {
	inbox     *Inbox
	refresher *refresher
	queue     *queue.Queue
	db        *database.DB
	store     *store.Store
	traces    *telemetry.Traces
	log       *slog.Logger
	now       func() time.Time
	borrowing chan struct{} // one entry for each borrowed repository
	workers   map[string]queue.Worker
}

// maxParsedComments is the memory of comments that were parsed, in bytes.
const maxParsedComments = 4 << 20

// New wires a service. It starts no work.
func New(o Options) *Service {
	server := o.Connections.Server
	now, poll := server.Now, server.File.Poll
	refresher := &refresher{connections: o.Connections, metrics: o.Metrics, log: o.Log, refreshing: make(chan struct{}, 1)}
	schedules := schedules{server: server, db: o.DB, queue: o.Queue, store: o.Store, log: o.Log}
	onboarder := onboarder{refresher: refresher, store: o.Store, dryRun: o.DryRun, log: o.Log}
	discovery := &discovery{server: server, refresher: refresher, queue: o.Queue, debounce: debounce(o.Debounce), log: o.Log}
	poller := &poller{refresher: refresher, schedules: schedules, queue: o.Queue, store: o.Store, poll: poll, now: now}
	retention := retention{db: o.DB, store: o.Store, limits: server.File.Retention, log: o.Log, now: now}
	health := healthPoller{
		connections: o.Connections, db: o.DB, queue: o.Queue, store: o.Store, metrics: o.Metrics,
		debounce: debounce(o.Debounce), log: o.Log,
	}
	permissions := permissions{refresher: refresher, store: o.Store}
	landing := afterLanding{
		connections: o.Connections, db: o.DB, queue: o.Queue, store: o.Store, permissions: permissions, metrics: o.Metrics,
		dryRun: o.DryRun, log: o.Log, now: now,
	}
	reports := reporter{log: o.Log, metrics: o.Metrics, now: now}
	records := recorder{
		db: o.DB, store: o.Store, queue: o.Queue,
		history:      &history.Recorder{Store: o.Store, Retention: server.File.Retention.History, Now: now},
		afterLanding: landing, schedules: schedules,
		dryRun: o.DryRun, log: o.Log, now: now,
	}
	reconciler := &reconciler{
		refresher: refresher, store: o.Store, recorder: records, onboarder: onboarder, report: reports,
		kept: workspace.Kept{
			Scans:     scan.NewMemory(memory.Share(keptShare, maxKept)),
			Decisions: workspace.NewDecisions(memory.Share(keptShare, maxKept)),
			Comments:  comments.NewParsed(maxParsedComments),
			Mirrors:   git.NewMemory(memory.Share(2*keptShare, maxKept/2)),
		},
		dryRun: o.DryRun, poll: poll, log: o.Log, now: now,
	}
	sender := notifications.Worker{
		Store: o.Store, Sender: o.Connections.NotificationSender, Refuse: permissions.refuseNotification, Log: o.Log,
	}
	s := &Service{
		inbox: &Inbox{
			db: o.DB, queue: o.Queue, store: o.Store, discovery: discovery, metrics: o.Metrics, debounce: debounce(o.Debounce), log: o.Log,
		},
		refresher: refresher, queue: o.Queue, db: o.DB, store: o.Store, traces: o.Traces, log: o.Log, now: now,
		borrowing: make(chan struct{}, maxBorrowed),
		workers: map[string]queue.Worker{
			KindRepository: {
				Handler: reconciler.handle, Concurrency: connect.Parallel + 1, Most: maxParallel, Room: new(memory.Gauge).Room,
			},
			KindPoll:         {Handler: poller.handle},
			KindSchedule:     {Handler: schedules.handle},
			kindAfterLanding: {Handler: landing.handle, Concurrency: connect.Parallel},
			kindTurn:         {Handler: turns{db: o.DB, queue: o.Queue, store: o.Store, poll: poll}.handle},
			kindDiscovery:    {Handler: discovery.handle},
			kindOnboarding:   {Handler: onboarder.handle, Concurrency: memory.Parallel(connect.Parallel)},
			KindHealth:       {Handler: health.handle, Concurrency: connect.Parallel},
			kindRetention:    {Handler: retention.handle},
			KindNotification: {Handler: sender.Handle, Concurrency: notificationsAtOnce},
		},
	}
	if o.DryRun { // what an earlier process queued waits for one that may send it
		delete(s.workers, kindAfterLanding)
		delete(s.workers, KindNotification)
	}
	return s
}

// Inbox returns the inbox for webhooks.
func (s *Service) Inbox() *Inbox { return s.inbox }

// MarkStale lets the next work refresh forges and repositories, for instance because a
// GitHub App was created.
func (s *Service) MarkStale() { s.refresher.markStale() }

// Unopened returns the repositories that the last refresh of this process could not open.
func (s *Service) Unopened() []Unopened { return s.refresher.unopened() }

// Start triggers the polls and the retention.
func (s *Service) Start(ctx context.Context) error {
	logClockSkew(ctx, s.db, s.now, s.log)
	polls := healthPolls(s.refresher.connections.Server)
	return s.queue.Trigger(ctx, append(polls, queue.Trigger{Kind: KindPoll, Key: All},
		queue.Trigger{Kind: kindTurn, Key: All}, queue.Trigger{Kind: kindRetention, Key: All})...)
}

// Run does the work until the context ends. Of the options, only the timing is used.
func (s *Service) Run(ctx context.Context, options queue.Options) error {
	options.Kinds = s.workers
	options.Log = s.log
	options.Random = rand.Float64
	options.Trace = traceRun(s.traces, s.now)
	return s.queue.Run(ctx, options)
}

// Close ends the current refresh. Call it after Run.
func (s *Service) Close() error { return s.refresher.close() }

// debounce returns the debounce time of triggers.
func debounce(configured time.Duration) time.Duration {
	if configured == 0 {
		return defaultDebounce
	}
	return max(configured, 0)
}

// debounced returns the trigger of an event, which waits for others.
func debounced(kind, key string, debounce time.Duration) queue.Trigger {
	return queue.Trigger{Kind: kind, Key: key, Debounce: debounce, MaxDebounce: maxDebounces * debounce, Urgent: true}
}

// maxClockSkew is how far the clock of this machine may be from that of the database. An
// image event counts although it seems a minute older than the refresh (eventSlack).
const maxClockSkew = 10 * time.Second

// logClockSkew warns about a wrong clock: work would start too early again and again, or
// events would seem older than what was read after them.
func logClockSkew(ctx context.Context, db *database.DB, now func() time.Time, log *slog.Logger) {
	skew, err := db.ClockSkew(ctx, now)
	if err != nil || skew.Abs() <= maxClockSkew { // an error of the database is logged elsewhere
		return
	}
	log.WarnContext(ctx, "the clock of this machine differs from the database server's: set both, for instance with NTP",
		slog.Duration("ahead", skew.Round(time.Second)))
}
