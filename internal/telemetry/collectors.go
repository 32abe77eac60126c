package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"promoter/internal/queue"
)

func newWork(count func(context.Context) ([]queue.Stat, error), now func() time.Time) prometheus.Collector {
	waiting := desc("work_waiting", "Work that was triggered and does not run.", "kind")
	running := desc("work_running", "Work that runs.", "kind")
	failing := desc("work_failing", "Work whose last run failed.", "kind")
	oldest := desc("work_oldest_trigger_seconds", "Age of the oldest trigger that no successful run has read.", "kind")
	return listed[queue.Stat]{&cached[[]queue.Stat]{read: count, now: now}, func(to chan<- prometheus.Metric, all []queue.Stat) {
		for _, one := range all {
			to <- gaugeOf(waiting, float64(one.Waiting), one.Kind)
			to <- gaugeOf(running, float64(one.Running), one.Kind)
			to <- gaugeOf(failing, float64(one.Failing), one.Kind)
			to <- gaugeOf(oldest, one.Oldest.Seconds(), one.Kind)
		}
	}}
}

// gaugeOf returns one value of a gauge.
func gaugeOf(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

// Backoff is a host that receives no requests for some time.
type Backoff struct {
	Peer, Host string
	Remaining  time.Duration
}

// backoffs is a prometheus.Collector.
type backoffs struct {
	list      func() []Backoff
	hosts     *hosts
	remaining *prometheus.Desc
}

func newBackoffs(list func() []Backoff, hosts *hosts) *backoffs {
	if list == nil {
		list = func() []Backoff { return nil }
	}
	return &backoffs{list: list, hosts: hosts, remaining: desc("host_backoff_seconds", "Remaining backoff of a host.", "peer", "host")}
}

// Describe implements prometheus.Collector.
func (b *backoffs) Describe(to chan<- *prometheus.Desc) { to <- b.remaining }

// Collect implements prometheus.Collector. Of the hosts that share a label, the longest
// backoff is reported.
func (b *backoffs) Collect(to chan<- prometheus.Metric) {
	remaining := map[[2]string]time.Duration{}
	for _, one := range b.list() {
		labels := [2]string{one.Peer, b.hosts.label(one.Host)}
		remaining[labels] = max(remaining[labels], one.Remaining)
	}
	for labels, longest := range remaining {
		to <- gaugeOf(b.remaining, longest.Seconds(), labels[0], labels[1])
	}
}

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
	collect func(to chan<- prometheus.Metric, all []T)
}

// Describe implements prometheus.Collector: each metric that is collected has its description.
func (listed[T]) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (l listed[T]) Collect(to chan<- prometheus.Metric) {
	all, err := l.list.get()
	if err != nil {
		to <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
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
