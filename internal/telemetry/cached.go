package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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

// listed is a prometheus.Collector of what a function lists from the database.
type listed[T any] struct {
	list    *cached[[]T]
	descs   []*prometheus.Desc // at least one, which an error of the list is reported for
	collect func(to chan<- prometheus.Metric, all []T)
}

// Describe implements prometheus.Collector.
func (l listed[T]) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range l.descs {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (l listed[T]) Collect(to chan<- prometheus.Metric) {
	all, err := l.list.get()
	if err != nil {
		to <- prometheus.NewInvalidMetric(l.descs[0], err)
		return
	}
	l.collect(to, all)
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
