package service

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/event"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/onboarding"
	"promoter/internal/promotion"
	"promoter/internal/queue"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// refresh is one reading of the forges and repositories of the server file. All work
// shares it, with the answers of registries, until the next one replaces it.
type refresh struct {
	session      *connect.Session
	onboarding   *onboarding.Batch
	repositories map[string]*connect.Repository // those that could be opened, by key
	closed       []Unopened                     // the others
	began        time.Time
	ready        time.Time // when it could be used

	users    int  // guarded by refresher.mu
	replaced bool // guarded by refresher.mu

	mu              sync.Mutex
	forgotten       map[event.Image]time.Time // the events because of which answers were forgotten
	newest          time.Time                 // of these events
	failuresDropped time.Time                 // when failures were forgotten last
}

// minRefreshInterval is the minimum time between two refreshes, regardless of triggers:
// each requests every repository from its forge.
const minRefreshInterval = 30 * time.Second

// Unopened is a repository that the last refresh of this process could not open. It
// contains no work of the queue, which knows repositories by their key.
type Unopened struct {
	Name     string // HOST/OWNER/NAME; HOST/OWNER/* if the repositories could not be listed
	Forge    string // its name in the server file
	Err      error
	Attempts int // refreshes since it could be opened last
	At       time.Time
}

// refresher hands out the current refresh. One that was replaced ends with its last user.
type refresher struct {
	connections *connect.Connections
	metrics     *telemetry.Metrics
	log         *slog.Logger

	refreshing chan struct{} // holds one value during a refresh: one at a time
	mu         sync.Mutex
	current    *refresh
	stale      bool      // what it was read from has changed since
	flushed    time.Time // when what it cached was written last
}

func (r *refresher) now() time.Time { return r.connections.Server.Now() }

// acquire returns the current refresh, and the function that releases it. It refreshes
// if there is none, or if it is too old: only one of several replicas polls.
func (r *refresher) acquire(ctx context.Context) (current *refresh, release func(), err error) {
	current, before := r.take(), time.Time{}
	if current != nil {
		if r.age() <= r.connections.Server.File.Poll*5/4 {
			return current, func() { r.release(current) }, nil
		}
		before = current.began
		r.release(current)
	}
	if err := r.refresh(ctx, before); err != nil {
		return nil, nil, err
	}
	current = r.take()
	return current, func() { r.release(current) }, nil
}

// age returns the age of the current refresh; zero: there is none.
func (r *refresher) age() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		return 0
	}
	if r.stale {
		return math.MaxInt64
	}
	return max(r.now().Sub(r.current.ready), 1)
}

// markStale lets the next user refresh.
func (r *refresher) markStale() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stale = true
}

// refresh replaces the current refresh unless that began after the time.
func (r *refresher) refresh(ctx context.Context, after time.Time) error {
	select {
	case r.refreshing <- struct{}{}:
		defer func() { <-r.refreshing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	r.mu.Lock()
	fresh := r.current != nil && !r.stale && r.current.began.After(after)
	stale := r.stale
	r.stale = false // a change from now on makes the new one stale
	r.mu.Unlock()
	if fresh {
		return nil
	}
	next, err := r.open(ctx)
	if err != nil {
		if stale {
			r.markStale()
		}
		return err
	}
	r.replace(next)
	return nil
}

func (r *refresher) open(ctx context.Context) (*refresh, error) {
	began := r.now()
	session, err := r.connections.Open(ctx, r.connections.Server.File.Data)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // repositories failed to open because of it
		return nil, errors.Join(context.Cause(ctx), session.Close())
	}
	opened := &refresh{
		session: session, onboarding: onboarding.NewBatch(session), repositories: map[string]*connect.Repository{},
		began: began, ready: r.now(), forgotten: map[event.Image]time.Time{},
	}
	for _, note := range session.Notes {
		r.log.InfoContext(ctx, note)
	}
	before := map[string]int{}
	for _, one := range r.unopened() {
		before[one.Name] = one.Attempts
	}
	for _, repository := range session.Repositories {
		if repository.SCM == nil {
			r.log.WarnContext(ctx, "could not open a repository", slog.String("repository", repository.Name),
				slog.Any("error", repository.Err))
			name := repository.Address()
			opened.closed = append(opened.closed, Unopened{
				Name: name, Forge: repository.Forge.Config.Name, Err: repository.Err, Attempts: before[name] + 1, At: opened.ready,
			})
			continue
		}
		opened.repositories[string(repository.Key())] = repository
	}
	r.metrics.Unopened(len(opened.closed))
	return opened, nil
}

// unopened returns the repositories that the last refresh could not open.
func (r *refresher) unopened() []Unopened {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		return nil
	}
	return r.current.closed
}

func (r *refresher) take() *refresh {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		r.current.users++
	}
	return r.current
}

func (r *refresher) release(used *refresh) {
	r.mu.Lock()
	used.users--
	unused := used.replaced && used.users == 0
	r.mu.Unlock()
	if unused {
		r.end(used)
	}
}

func (r *refresher) replace(next *refresh) {
	r.mu.Lock()
	previous := r.current
	r.current = next
	unused := previous != nil && previous.users == 0
	if previous != nil {
		previous.replaced = true
	}
	r.mu.Unlock()
	if unused {
		r.end(previous)
	}
}

// end closes a refresh, which writes what it cached.
func (r *refresher) end(unused *refresh) {
	if err := unused.session.Close(); err != nil {
		r.log.Warn("could not write the registry cache", slog.Any("error", err))
	}
}

// flushInterval is the minimum time between two writes of what a refresh cached: each reads the folder
// of the cache, with a file for each image. A process that dies loses what is younger.
const flushInterval = 10 * time.Second

// flush writes what a refresh cached, so that a process that dies before the end of the refresh
// does not lose it.
func (r *refresher) flush(used *refresh) {
	r.mu.Lock()
	due := r.now().Sub(r.flushed) >= flushInterval
	if due {
		r.flushed = r.now()
	}
	r.mu.Unlock()
	if !due {
		return
	}
	if err := used.session.Flush(); err != nil {
		r.log.Warn("could not write the registry cache", slog.Any("error", err))
	}
}

// close ends the current refresh. It leaves one that work which does not end still uses:
// the process is about to exit.
func (r *refresher) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil || r.current.users > 0 {
		return nil
	}
	last := r.current
	r.current = nil
	return last.session.Close()
}

// unopened returns why a repository of a forge could not be opened, if another attempt
// may succeed: until then it is unknown which repositories are missing. An empty name
// stands for all forges.
func (r *refresh) unopened(forge string) error {
	for _, repository := range r.session.Repositories {
		concerned := forge == "" || repository.Forge.Config.Name == forge
		if concerned && repository.SCM == nil && fault.KindOf(repository.Err) != fault.NotFound {
			return repository.Err
		}
	}
	return nil
}

// nextAttempt returns when to refresh again because of repositories that could not be
// opened: at the given time, or later if the forge requested that, and how many they are.
// A refused credential is tried again too: it may be accepted a moment later. A repository
// that does not exist is not.
func (r *refresh) nextAttempt(at time.Time) (next time.Time, failing int) {
	for _, repository := range r.session.Repositories {
		if repository.SCM != nil || fault.KindOf(repository.Err) == fault.NotFound {
			continue
		}
		failing++
		until, _ := fault.RetryAt(repository.Err)
		next = earlier(next, latest(until, at))
	}
	return next, failing
}

// failureLifetime is how long a failed request to a registry is shared: a registry that
// is down takes a minute to fail, and other repositories wait for it.
const failureLifetime = 30 * time.Second

// eventsSince returns from when on image events may be new to the refresh.
func (r *refresh) eventsSince() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return latest(r.began.Add(-eventSlack), r.newest.Add(-store.LateCommit))
}

// forgetAnswers drops the answers of registries in memory that are older than an event about their image,
// and from time to time all failures: at the latest those until a time, because a retry
// must not read the failure that it should overcome. What is kept of registries, and the decisions that are, have
// their own ways to know: the workspace compares their times with those of events.
func (r *refresh) forgetAnswers(events []store.ImageEvent, failed, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var changed []event.Image
	for _, one := range events {
		r.newest = latest(r.newest, one.At)
		if one.At.After(r.forgotten[one.Image]) {
			r.forgotten[one.Image] = one.At
			changed = append(changed, one.Image)
		}
	}
	if len(changed) == 0 && now.Sub(r.failuresDropped) < failureLifetime && !failed.After(r.failuresDropped) {
		return
	}
	r.failuresDropped = now
	repositories := map[image.Repository]bool{}
	var anyHost []event.Image
	for _, one := range changed {
		if one.Host == "" {
			anyHost = append(anyHost, one)
		} else {
			repositories[one.Repository()] = true
		}
	}
	r.session.ForgetAnswers(func(repository image.Repository) bool {
		return repositories[repository] || slices.ContainsFunc(anyHost, func(one event.Image) bool { return one.Matches(repository) })
	})
}

// subscriptions are the events that concern a config, with the targets that were found.
func (r *refresh) subscriptions(c *config.Config, decisions []promotion.Decision) []store.Subscription {
	var all []store.Subscription
	if len(c.Receivers()) == 0 {
		decisions = nil // no source reports about them
	}
	for _, d := range decisions {
		settings := c.Settings(d.Environment, d.Application)
		if h := settings.Health; h != nil && h.From != "" {
			for _, subject := range h.Subjects(d.Environment, d.Application) {
				all = append(all, store.Subscription{Health: store.Health{Receiver: h.From, Subject: subject}})
			}
		}
	}
	for _, pattern := range c.MirrorPatterns() {
		all = append(all, store.Subscription{Image: pattern})
	}
	for _, component := range c.Components {
		all = append(all, store.Subscription{Image: component.Pattern})
		if source, ok := c.Policy(component.Name).Release(); ok {
			if host, name, ok := r.session.SourceHost(source); ok {
				all = append(all, store.Subscription{Release: store.Release{Host: host, Name: name}})
			}
		}
	}
	return all
}

// onboardings triggers the onboarding of the repositories without a config file.
func (r *refresh) onboardings() (triggers []queue.Trigger) {
	for _, key := range r.onboarding.Candidates() {
		triggers = append(triggers, queue.Trigger{Kind: kindOnboarding, Key: key})
	}
	return triggers
}
