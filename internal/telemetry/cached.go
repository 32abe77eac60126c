package telemetry

import (
	"context"
	"sync"
	"time"
)

// A result of the database is reused for a few seconds, so that several scrapers do not cost more
// than one read, and for longer if the read took long: reads take at most 5 % of the time. A read
// has a timeout, which is shorter than that of scrapes.
const (
	readEvery   = 5 * time.Second
	readShare   = 20
	readTimeout = 8 * time.Second
)

// cached is the last result of a function that reads the database.
type cached[T any] struct {
	read func(context.Context) (T, error)
	now  func() time.Time

	mu     sync.Mutex
	expiry time.Time
	last   T
	err    error
}

// get returns the last result, or its error, if it is recent.
func (c *cached[T]) get() (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	began := c.now()
	if began.Before(c.expiry) {
		return c.last, c.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	c.last, c.err = c.read(ctx)
	ended := c.now()
	c.expiry = ended.Add(max(readEvery, readShare*ended.Sub(began)))
	return c.last, c.err
}
