package queue

import (
	"context"
	"log/slog"
	"time"

	"promoter/internal/fault"
)

// Handler does the work of one key. Its context ends when the lease is lost or
// promoter stops; context.Cause says which, ErrLost or ErrStopping.
type Handler func(ctx context.Context, item Item) (Result, error)

// Worker is how one kind of work is done.
type Worker struct {
	Handler Handler
	// Concurrency is how many keys are worked on at once in this process; zero is one.
	Concurrency int
}

// Options say how Run works.
type Options struct {
	// Kinds are the kinds of work that this process does.
	Kinds map[string]Worker
	// Log gets what nobody is told otherwise: failed runs, and a database that does not
	// answer.
	Log *slog.Logger
	// Trace is told of each run, gives the context that it goes on with, and is told
	// how it ended; nil: nobody follows.
	Trace func(ctx context.Context, item Item) (context.Context, func(error))
	// Random returns a number from 0 to below 1, for the times of retries.
	Random func() float64

	// Lease is how long a run holds its key without renewing; zero is 15 seconds.
	Lease time.Duration
	// Renew is how often leases are renewed; zero is a third of Lease.
	Renew time.Duration
	// Poll is how often it is looked for work that other processes know of; zero is
	// one second.
	Poll time.Duration
	// Drain is how long runs may go on when promoter stops; zero is 20 seconds.
	Drain time.Duration
	// FirstRetry and LastRetry are the waits after the first failure and at most; zero
	// are 5 seconds and 10 minutes.
	FirstRetry, LastRetry time.Duration
}

func (o Options) withDefaults() (Options, error) {
	if o.Log == nil || o.Random == nil || len(o.Kinds) == 0 {
		return o, fault.New(fault.Internal, "the queue was started without a logger, randomness or work")
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
