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

// begin starts a run, which gives its place back. A key whose earlier run of this
// process lost its lease and has not ended yet is given back: its time comes again.
func (w *worker) begin(item Item, handler Handler, free chan<- struct{}) {
	name := item.Kind + "\x00" + item.Key
	w.mu.Lock()
	taken := w.running[name]
	w.running[name] = true
	w.mu.Unlock()
	w.runs.Go(func() {
		defer func() { free <- struct{}{} }()
		if taken {
			w.settle(item, func(ctx context.Context) error { return w.q.Release(ctx, item, w.o.Poll) })
			return
		}
		defer w.leave(name)
		w.work(item, handler)
	})
}

func (w *worker) leave(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, name)
}

// work is one run: the handler with its lease, and then its end in the database.
func (w *worker) work(item Item, handler Handler) {
	base, end := w.o.Trace(w.base, item)
	ctx, cancel := context.WithCancelCause(base)
	defer cancel(nil)
	var keeping sync.WaitGroup
	keeping.Go(func() { w.keep(ctx, item, cancel) })
	result, err := w.call(ctx, item, handler)
	lost := errors.Is(context.Cause(ctx), ErrLost)
	stopped := errors.Is(context.Cause(ctx), ErrStopping)
	cancel(nil)
	keeping.Wait()
	defer end(err)
	switch {
	case lost:
		w.log(base, item, slog.LevelWarn, "a run lost its lease", ErrLost)
	case err == nil:
		w.settle(item, func(ctx context.Context) error { return w.q.Done(ctx, item, result) })
	case stopped:
		w.settle(item, func(ctx context.Context) error { return w.q.Release(ctx, item, 0) })
	default:
		w.log(base, item, slog.LevelWarn, "a run failed", err)
		w.settle(item, func(ctx context.Context) error { return w.q.Fail(ctx, item, w.o.failure(item.Attempt, err)) })
	}
}

// call runs the handler. A panic is the failure of this run alone.
func (w *worker) call(ctx context.Context, item Item, handler Handler) (_ Result, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fault.Defect(value)
			w.o.Log.ErrorContext(ctx, "a run panicked", slog.String("kind", item.Kind), slog.String("key", item.Key),
				slog.String("panic", fmt.Sprint(value)), slog.String("stack", string(debug.Stack())))
		}
	}()
	return handler(ctx, item)
}

// keep renews the lease until the run ends. When the database does not answer, the
// run is told in time: the lease began before the answer to the last renewal came,
// and that took no longer than one interval.
func (w *worker) keep(ctx context.Context, item Item, cancel context.CancelCauseFunc) {
	over := time.AfterFunc(w.o.Lease-w.o.Renew, func() { cancel(ErrLost) })
	defer over.Stop()
	tick := time.NewTicker(w.o.Renew)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		switch err := w.renew(ctx, item); {
		case err == nil:
			over.Reset(w.o.Lease - w.o.Renew)
		case errors.Is(err, ErrLost):
			cancel(ErrLost)
		}
	}
}

func (w *worker) renew(ctx context.Context, item Item) error {
	ctx, cancel := context.WithTimeout(ctx, w.o.Renew)
	defer cancel()
	return w.q.Renew(ctx, item, w.o.Lease)
}

// settle writes the end of a run. When the database does not take it the lease ends
// by itself, and the key has another run: that is no loss, as a run that was done
// already finds nothing to do.
func (w *worker) settle(item Item, write func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.base), w.o.Lease)
	defer cancel()
	if err := write(ctx); err != nil {
		w.log(ctx, item, slog.LevelError, "the end of a run was not stored; it runs again", err)
	}
}

func (w *worker) log(ctx context.Context, item Item, level slog.Level, what string, err error) {
	w.o.Log.LogAttrs(ctx, level, what, slog.String("kind", item.Kind), slog.String("key", item.Key),
		slog.Int("attempt", item.Attempt), slog.String("error", err.Error()))
}
