package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Counter counts the work of each kind. The kinds are a closed set.
type Counter func(context.Context) ([]Work, error)

// Work is the amount of work of one kind.
type Work struct {
	Kind                      string
	Waiting, Running, Failing int
	Oldest                    time.Duration // age of the oldest trigger that no successful run has read
}

// work are the metrics of the work.
type work struct{ waiting, running, failing, oldest *prometheus.Desc }

func newWork(count Counter, now func() time.Time) prometheus.Collector {
	w := work{
		waiting: desc("work_waiting", "Work that was triggered and does not run.", "kind"),
		running: desc("work_running", "Work that runs.", "kind"),
		failing: desc("work_failing", "Work whose last run failed.", "kind"),
		oldest:  desc("work_oldest_trigger_seconds", "Age of the oldest trigger that no successful run has read.", "kind"),
	}
	return listed[Work]{
		&cached[[]Work]{read: count, now: now},
		[]*prometheus.Desc{w.waiting, w.running, w.failing, w.oldest},
		w.collect,
	}
}

func (w work) collect(to chan<- prometheus.Metric, all []Work) {
	for _, one := range all {
		for desc, value := range map[*prometheus.Desc]float64{
			w.waiting: float64(one.Waiting), w.running: float64(one.Running),
			w.failing: float64(one.Failing), w.oldest: one.Oldest.Seconds(),
		} {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, one.Kind)
		}
	}
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
		to <- prometheus.MustNewConstMetric(b.remaining, prometheus.GaugeValue, longest.Seconds(), labels[0], labels[1])
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
