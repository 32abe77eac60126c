package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

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
	return o, nil
}

// ErrStopping is the cause by which the context of a run ends when promoter stops and
// the run did not finish in time.
var ErrStopping = errors.New("promoter stops")

// Run does work until the context ends. Then it starts no more runs, waits for those in
// progress, and releases those that do not end in time.
func (q *Queue) Run(ctx context.Context, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	p := &pool{q: q, o: o, running: map[string]bool{}}
	p.base, p.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	var loops sync.WaitGroup
	for kind, worker := range o.Kinds {
		loop := q.register(kind, o.Poll)
		loops.Go(func() { p.loop(ctx, kind, worker, loop) })
	}
	loops.Wait()
	over := time.AfterFunc(o.Drain, func() { p.stop(ErrStopping) })
	p.runs.Wait()
	over.Stop()
	p.stop(ErrStopping)
	return nil
}

// pool is the state of one Run.
type pool struct {
	q    *Queue
	o    Options
	base context.Context //nolint:containedctx // of the runs, which outlive the context of Run
	stop context.CancelCauseFunc

	runs    sync.WaitGroup
	mu      sync.Mutex
	running map[string]bool // kind and key
}

// loop claims and starts runs of one kind.
func (p *pool) loop(ctx context.Context, kind string, worker Worker, loop loop) {
	free := make(chan struct{}, max(1, worker.Concurrency))
	for range cap(free) {
		free <- struct{}{}
	}
	failing := false
	for ctx.Err() == nil {
		slots := takeSlots(ctx, free)
		items, wait, err := p.claim(ctx, kind, slots)
		for _, item := range items {
			p.start(item, worker.Handler, free) //nolint:contextcheck // a run outlives the context of the loop
		}
		for range slots - len(items) {
			free <- struct{}{}
		}
		switch {
		case ctx.Err() != nil:
		case err != nil && !failing:
			p.o.Log.ErrorContext(ctx, "queue unavailable", slog.String("kind", kind), slog.String("error", err.Error()))
		case err == nil && failing:
			p.o.Log.InfoContext(ctx, "queue available again", slog.String("kind", kind))
		}
		if failing = err != nil; failing {
			wait = p.o.Poll
		}
		if len(items) < slots || err != nil {
			timer := time.NewTimer(min(wait, loop.poll))
			select {
			case <-timer.C:
			case <-loop.wake:
			case <-ctx.Done():
			}
			timer.Stop()
		}
	}
}

// takeSlots waits for one slot, and then takes all that are free.
func takeSlots(ctx context.Context, free chan struct{}) (slots int) {
	select {
	case <-free:
	case <-ctx.Done():
		return 0
	}
	for slots = 1; ; slots++ {
		select {
		case <-free:
		default:
			return slots
		}
	}
}

// claim is not canceled by the end of the context: runs could be claimed and not
// started. It gives up in time for the next renewal.
func (p *pool) claim(ctx context.Context, kind string, slots int) ([]Item, time.Duration, error) {
	if ctx.Err() != nil {
		return nil, 0, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.o.Renew)
	defer cancel()
	return p.q.Claim(ctx, kind, slots, p.o.Lease)
}

// start starts a run, which frees its slot at its end. If an earlier run of the key lost
// its lease and still runs in this process, the new run is released.
func (p *pool) start(item Item, handler Handler, free chan<- struct{}) {
	name := item.Kind + "\x00" + item.Key
	p.mu.Lock()
	taken := p.running[name]
	p.running[name] = true
	p.mu.Unlock()
	p.runs.Go(func() {
		defer func() { free <- struct{}{} }()
		if taken {
			p.finish(item, func(ctx context.Context) error { return p.q.Release(ctx, item, p.o.Poll) })
			return
		}
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.running, name)
		}()
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
	case err == nil:
		p.finish(item, func(ctx context.Context) error { return p.q.Done(ctx, item, result) })
	case stopped:
		p.finish(item, func(ctx context.Context) error { return p.q.Release(ctx, item, 0) })
	default:
		p.log(base, item, slog.LevelWarn, "run failed", err)
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
	}
}

func (p *pool) log(ctx context.Context, item Item, level slog.Level, what string, err error) {
	p.o.Log.LogAttrs(ctx, level, what, slog.String("kind", item.Kind), slog.String("key", item.Key),
		slog.Int("attempt", item.Attempt), slog.String("error", err.Error()))
}

// failure returns when to retry after an error. Errors that a user must correct are
// retried rarely, but a trigger may retry them after the usual delay. For other errors,
// triggers do not shorten the delay.
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
		f.Delay = max(delay, o.spread(o.LastRetry))
	}
	return f
}

// spread shortens a delay by up to a half, so that work that failed together is not
// retried together.
func (o Options) spread(delay time.Duration) time.Duration {
	return delay - time.Duration(o.Random()*float64(delay)/2)
}
