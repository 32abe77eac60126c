package queue

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// ErrStopping is the cause by which the context of a run ends when promoter stops
// and the run had its time to finish.
var ErrStopping = errors.New("promoter stops")

// Run does work until the context ends. Then it begins nothing new, waits for the
// runs under way, and gives back those that do not end in time.
func (q *Queue) Run(ctx context.Context, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	w := newWorker(ctx, q, o)
	var loops sync.WaitGroup
	for kind, handled := range o.Kinds {
		loop := q.enlist(kind, o.Poll)
		loops.Go(func() { w.loop(ctx, kind, handled, loop) })
	}
	loops.Wait()
	w.drain()
	return nil
}

// worker is one Run.
type worker struct {
	q    *Queue
	o    Options
	base context.Context //nolint:containedctx // of the runs, which outlive the context of Run
	stop context.CancelCauseFunc

	runs    sync.WaitGroup
	mu      sync.Mutex
	running map[string]bool // kind and key
}

func newWorker(ctx context.Context, q *Queue, o Options) *worker {
	w := &worker{q: q, o: o, running: map[string]bool{}}
	w.base, w.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	return w
}

// loop claims and begins runs of one kind.
func (w *worker) loop(ctx context.Context, kind string, handled Worker, loop loop) {
	free := make(chan struct{}, max(1, handled.Concurrency))
	for range cap(free) {
		free <- struct{}{}
	}
	ill := false
	for ctx.Err() == nil {
		targets := take(ctx, free)
		items, wait, err := w.claim(ctx, kind, targets)
		for _, item := range items {
			w.begin(item, handled.Handler, free) //nolint:contextcheck // a run outlives the context of the loop
		}
		for range targets - len(items) {
			free <- struct{}{}
		}
		ill = w.tell(ctx, kind, ill, err)
		if err != nil {
			wait = w.o.Poll
		}
		if len(items) < targets || err != nil {
			w.rest(ctx, loop, wait)
		}
	}
}

// take waits for one place and takes all that are free then.
func take(ctx context.Context, free chan struct{}) (targets int) {
	select {
	case <-free:
	case <-ctx.Done():
		return 0
	}
	for targets = 1; ; targets++ {
		select {
		case <-free:
		default:
			return targets
		}
	}
}

// claim gives up in time to look again. Stopping does not end it: it could be
// that the runs were begun and nobody heard of it.
func (w *worker) claim(ctx context.Context, kind string, targets int) ([]Item, time.Duration, error) {
	if ctx.Err() != nil {
		return nil, 0, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.o.Renew)
	defer cancel()
	return w.q.Claim(ctx, kind, targets, w.o.Lease)
}

// tell logs when the database ceases to answer and when it answers again, once each.
func (w *worker) tell(ctx context.Context, kind string, ill bool, err error) bool {
	switch {
	case ctx.Err() != nil:
		return ill
	case err != nil && !ill:
		w.o.Log.ErrorContext(ctx, "no work is begun: the queue can not be read",
			slog.String("kind", kind), slog.String("error", err.Error()))
	case err == nil && ill:
		w.o.Log.InfoContext(ctx, "the queue can be read again", slog.String("kind", kind))
	}
	return err != nil
}

// rest waits until something may be due.
func (w *worker) rest(ctx context.Context, loop loop, wait time.Duration) {
	timer := time.NewTimer(min(wait, loop.poll))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-loop.wake:
	case <-ctx.Done():
	}
}

// drain waits for the runs, and ends them when their time is over.
func (w *worker) drain() {
	over := time.AfterFunc(w.o.Drain, func() { w.stop(ErrStopping) })
	w.runs.Wait()
	over.Stop()
	w.stop(ErrStopping)
}
