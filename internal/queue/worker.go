package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"promoter/internal/activity"
	"promoter/internal/fault"
)

// Handler does the work of one key. Its context ends when the lease is lost or promoter
// stops; context.Cause returns which, ErrLost or ErrStopping.
type Handler func(ctx context.Context, item Item) (Result, error)

// Worker does one kind of work.
type Worker struct {
	Handler Handler
	// Concurrency is the number of keys that this process works on at once; zero is one.
	Concurrency int
	// Most is the same, with those that run for a while already: they wait for something,
	// and must not delay others. It is at least Concurrency.
	Most int
	// Room, if set, returns how many more keys there is room for, beside a number of keys on
	// which work began so recently that it may need more memory. One is always worked on.
	Room func(growing int) int
}

// Options configure Run.
type Options struct {
	// Kinds are the kinds of work that this process does.
	Kinds map[string]Worker
	// Log receives failed runs, and errors of the database.
	Log *slog.Logger
	// Trace, if set, is called for each run, returns its context, and a function that
	// receives its result.
	Trace func(ctx context.Context, item Item) (context.Context, func(error))
	// Random returns a number from 0 to below 1, to spread retries.
	Random func() float64

	// Lease is how long a run holds its key without a renewal; zero is 15 seconds.
	Lease time.Duration
	// Renew is how often leases are renewed; zero is a third of Lease.
	Renew time.Duration
	// Poll is how often to check for work from other processes; zero is one second.
	Poll time.Duration
	// Drain is how long runs may continue when promoter stops; zero is 20 seconds.
	Drain time.Duration
	// FirstRetry and LastRetry are the first and the longest delay of retries; zero is 5
	// seconds and 10 minutes.
	FirstRetry, LastRetry time.Duration
	// Grace is how long runs that do not obey the end of their context may continue after
	// Drain, and then how long to release them may take; zero is 5 seconds.
	Grace time.Duration
	// FirstCrash and LastCrash are the first and the longest delay of work that alone was running
	// when a process died; zero is 10 seconds and 6 hours.
	FirstCrash, LastCrash time.Duration
}

func (o Options) withDefaults() (Options, error) {
	if o.Log == nil || o.Random == nil || len(o.Kinds) == 0 {
		return o, fault.New(fault.Internal, "the queue was started without a logger, randomness, or work")
	}
	if o.Trace == nil {
		o.Trace = func(ctx context.Context, _ Item) (context.Context, func(error)) { return ctx, func(error) {} }
	}
	set := func(value *time.Duration, usual time.Duration) {
		if *value <= 0 {
			*value = usual
		}
	}
	set(&o.Lease, 15*time.Second)
	set(&o.Renew, o.Lease/3)
	set(&o.Poll, time.Second)
	set(&o.Drain, 20*time.Second)
	set(&o.FirstRetry, 5*time.Second)
	set(&o.LastRetry, 10*time.Minute)
	set(&o.Grace, 5*time.Second)
	set(&o.FirstCrash, 10*time.Second)
	set(&o.LastCrash, 6*time.Hour)
	return o, nil
}

// ErrStopping is the cause by which the context of a run ends when promoter stops and
// the run did not finish in time.
var ErrStopping = errors.New("promoter stops")

// Run does work until the context ends. Then it starts no more runs, waits for those in
// progress, and releases those that do not end in time, even if they still run: the
// process is about to exit.
func (q *Queue) Run(ctx context.Context, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	p := &pool{q: q, o: o, stopping: ctx.Done(), running: map[string]Item{}}
	p.base, p.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	var loops sync.WaitGroup
	for kind, worker := range o.Kinds {
		loop := q.register(kind, o.Poll)
		loops.Go(func() { p.loop(ctx, kind, worker, loop) })
	}
	ended := make(chan struct{})
	go func() {
		loops.Wait()
		p.runs.Wait()
		close(ended)
	}()
	<-ctx.Done()
	over, late := time.AfterFunc(o.Drain, func() { p.stop(ErrStopping) }), time.NewTimer(o.Drain+o.Grace)
	select {
	case <-ended:
	case <-late.C:
		p.abandon() //nolint:contextcheck // the context has ended
	}
	over.Stop()
	p.stop(ErrStopping)
	return nil
}

// pool is the state of one Run.
type pool struct {
	q        *Queue
	o        Options
	base     context.Context //nolint:containedctx // of the runs, which outlive the context of Run
	stop     context.CancelCauseFunc
	stopping <-chan struct{} // the context of Run has ended

	runs    sync.WaitGroup
	mu      sync.Mutex
	running map[string]Item // by kind and key
}

// abandon releases the runs that do not end.
func (p *pool) abandon() {
	p.mu.Lock()
	left := slices.Collect(maps.Values(p.running))
	p.mu.Unlock()
	var released sync.WaitGroup
	for _, item := range left {
		released.Go(func() {
			p.log(p.base, item, slog.LevelError, "run does not end; the process exits without it", ErrStopping)
			p.finish(item, func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, p.o.Grace)
				defer cancel()
				return p.q.Release(ctx, item, 0)
			})
		})
	}
	released.Wait()
}

// loop claims and starts runs of one kind.
func (p *pool) loop(ctx context.Context, kind string, worker Worker, loop loop) {
	room, ended := newRoom(worker), make(chan struct{}, 1)
	failing := false
	for ctx.Err() == nil {
		p.mu.Lock()
		free, suspects, wait := room.next(monotonic())
		p.mu.Unlock()
		if free > 0 {
			claimed, err := p.claim(ctx, kind, room, free, suspects)
			p.logClaim(ctx, kind, claimed.Crashed, err, failing)
			for _, item := range claimed.Items {
				p.start(item, worker.Handler, room, suspects, ended) //nolint:contextcheck // a run outlives the context of the loop
			}
			if failing = err != nil; failing {
				wait = p.o.Poll
			} else {
				wait = min(claimed.Wait, loop.poll, p.noteSuspect(room, claimed, suspects))
			}
			if suspects && len(claimed.Items) > 0 || len(claimed.Items) == free {
				continue // what is free has changed; otherwise, no more may start until something happens
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ended:
		case <-loop.wake:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// noteSuspect records when the next suspect is due, and returns when it may start. Another
// process may have locked one that is due.
func (p *pool) noteSuspect(room *room, claimed Claimed, suspects bool) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, wait := monotonic(), claimed.Suspect
	if suspects && len(claimed.Items) == 0 {
		wait = max(wait, p.o.Poll)
	}
	room.suspectIn(now, wait)
	return room.untilSuspect(now)
}

// logClaim logs the first error of several, and what crashed.
func (p *pool) logClaim(ctx context.Context, kind string, crashed []Crash, err error, failing bool) {
	switch {
	case ctx.Err() != nil:
	case err != nil && !failing:
		p.o.Log.ErrorContext(ctx, "queue unavailable", slog.String("kind", kind), slog.String("error", err.Error()))
	case err == nil && failing:
		p.o.Log.InfoContext(ctx, "queue available again", slog.String("kind", kind))
	}
	for _, one := range crashed {
		p.o.Log.WarnContext(ctx, "a process died during this run; it is retried alone", slog.String("kind", kind),
			slog.String("key", one.Key), slog.Int("crashes", one.Crashes), slog.Time("next", one.Next))
	}
}

// claim is not canceled by the end of the context: runs could be claimed and not
// started. It gives up in time for the next renewal.
func (p *pool) claim(ctx context.Context, kind string, room *room, free int, suspects bool) (Claimed, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.o.Renew)
	defer cancel()
	o := ClaimOptions{
		Kind: kind, Limit: free, Lease: p.o.Lease, Suspects: suspects, FirstCrash: p.o.FirstCrash, LastCrash: p.o.LastCrash,
	}
	if !suspects {
		o.Share = func(waiting []Waiting) []Share {
			p.mu.Lock()
			defer p.mu.Unlock()
			return room.share(waiting, free)
		}
	}
	return p.q.Claim(ctx, o)
}

// start starts a run. If an earlier run of the key lost its lease and still runs in this
// process, the new run is released.
func (p *pool) start(item Item, handler Handler, room *room, suspect bool, ended chan<- struct{}) {
	name := item.Kind + "\x00" + item.Key
	p.mu.Lock()
	_, taken := p.running[name]
	if !taken {
		p.running[name] = item
	}
	began := monotonic()
	room.begin(item, suspect, began)
	p.mu.Unlock()
	p.runs.Go(func() {
		defer func() {
			p.mu.Lock()
			room.end(item, suspect, began, monotonic())
			if !taken {
				delete(p.running, name)
			}
			p.mu.Unlock()
			select {
			case ended <- struct{}{}:
			default: // the loop was notified
			}
		}()
		if taken {
			p.finish(item, func(ctx context.Context) error { return p.q.Release(ctx, item, p.o.Poll) })
			return
		}
		p.run(item, handler)
	})
}

// run calls the handler while it renews the lease, and then stores the result.
func (p *pool) run(item Item, handler Handler) {
	base, end := p.o.Trace(p.base, item)
	ctx, cancel := context.WithCancelCause(base)
	defer cancel(nil)
	var renewals sync.WaitGroup
	renewals.Go(func() { p.renew(ctx, item, cancel) })
	result, err := p.call(ctx, item, handler)
	lost := errors.Is(context.Cause(ctx), ErrLost)
	stopped := errors.Is(context.Cause(ctx), ErrStopping)
	cancel(nil)
	renewals.Wait()
	defer end(err)
	switch {
	case lost:
		p.log(base, item, slog.LevelWarn, "run lost its lease", ErrLost)
		go p.survive(item)
	case err == nil:
		p.finish(item, func(ctx context.Context) error { return p.q.Done(ctx, item, result) })
	case stopped:
		p.finish(item, func(ctx context.Context) error { return p.q.Release(ctx, item, 0) })
	default:
		p.log(base, item, levelOf(err), "run failed", err)
		p.finish(item, func(ctx context.Context) error { return p.q.Fail(ctx, item, p.o.failure(item.Attempt, err)) })
	}
}

// call runs the handler. A panic fails only this run.
func (p *pool) call(ctx context.Context, item Item, handler Handler) (_ Result, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fault.Defect(value)
			p.o.Log.ErrorContext(ctx, "run panicked", slog.String("kind", item.Kind), slog.String("key", item.Key),
				slog.String("panic", fmt.Sprint(value)), slog.String("stack", string(debug.Stack())))
		}
	}()
	defer activity.Begin(ctx, item.Kind+" "+item.Key)()
	return handler(ctx, item)
}

// renew renews the lease until the run ends. If the database does not answer, it cancels
// the run before the lease expires: the lease began before the answer to the last
// renewal arrived, and that took at most one interval.
func (p *pool) renew(ctx context.Context, item Item, cancel context.CancelCauseFunc) {
	expires := p.o.Lease - p.o.Renew
	over := time.AfterFunc(expires, func() { cancel(ErrLost) })
	defer over.Stop()
	tick := time.NewTicker(p.o.Renew)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		limited, done := context.WithTimeout(ctx, p.o.Renew)
		err := p.q.Renew(limited, item, p.o.Lease)
		done()
		switch {
		case err == nil:
			over.Reset(expires)
		case errors.Is(err, ErrLost):
			cancel(ErrLost)
		}
	}
}

// finish stores the result of a run. If that fails, the lease expires and the key runs
// again, which is harmless: a run that was done finds nothing to do.
func (p *pool) finish(item Item, write func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.base), p.o.Lease)
	defer cancel()
	if err := write(ctx); err != nil {
		p.log(ctx, item, slog.LevelError, "result of a run not stored; it runs again", err)
		go p.survive(item)
	}
}

// survive ends a run without a result, as soon as the database answers: otherwise
// another process would suspect that it killed this one.
func (p *pool) survive(item Item) {
	for {
		ctx, cancel := context.WithTimeout(p.base, p.o.Renew)
		err := p.q.survived(ctx, item)
		cancel()
		if err == nil {
			return
		}
		timer := time.NewTimer(p.o.Poll)
		select {
		case <-timer.C:
		case <-p.stopping:
			timer.Stop()
			return
		}
	}
}

func (p *pool) log(ctx context.Context, item Item, level slog.Level, what string, err error) {
	p.o.Log.LogAttrs(ctx, level, what, slog.String("kind", item.Kind), slog.String("key", item.Key),
		slog.Int("attempt", item.Attempt), slog.String("error", err.Error()))
}

// levelOf returns how a failed run is logged: a warning is for what a user may have to act on.
func levelOf(err error) slog.Level {
	if fault.IsPassing(err) {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// failure returns when to retry after an error. Triggers do not shorten the delay, unless a
// user may have corrected the error: then they do, down to maxMinDelay.
func (o Options) failure(attempt int, err error) Failure {
	delay := o.FirstRetry
	for range attempt - 1 {
		if delay *= 2; delay >= o.LastRetry {
			delay = o.LastRetry
			break
		}
	}
	delay = o.spread(delay)
	f := Failure{Reason: err.Error(), Delay: delay, MinDelay: delay}
	if at, ok := fault.RetryAt(err); ok {
		f.RetryAt, f.NotBefore = at, at
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.NotFound, fault.Unauthorized:
		f.MinDelay = min(delay, maxMinDelay)
	}
	return f
}

// maxMinDelay is the longest delay of a trigger after an error that a user must correct.
const maxMinDelay = time.Minute

// spread shortens a delay by up to a half, so that work that failed together is not
// retried together.
func (o Options) spread(delay time.Duration) time.Duration {
	return delay - time.Duration(o.Random()*float64(delay)/2)
}

// monotonic is the time by which the process waits. It is never stored.
func monotonic() time.Time { return time.Now() } //nolint:forbidigo // see above
