package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Counter counts the work of each kind. The kinds are a closed set.
type Counter func(context.Context) ([]Work, error)

// Work is how much work of one kind there is.
type Work struct {
	Kind                      string
	Waiting, Running, Failing int
	Oldest                    time.Duration // the age of the oldest hint that waits or is being looked at
}

// How long a count holds, so that scrapes of many do not cost the database more than
// one question each time, and how long it may take.
const (
	countEvery  = 5 * time.Second
	countWithin = 3 * time.Second
)

// work is a prometheus.Collector.
type work struct {
	count Counter
	now   func() time.Time

	waiting, running, failing, oldest *prometheus.Desc

	mu   sync.Mutex
	at   time.Time
	last []Work
	err  error
}

func newWork(count Counter, now func() time.Time) *work {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "work", name), help, []string{"kind"}, nil)
	}
	return &work{
		count: count, now: now,
		waiting: desc("waiting", "Work that was hinted at and does not run."),
		running: desc("running", "Work that runs."),
		failing: desc("failing", "Work whose last run failed."),
		oldest:  desc("oldest_hint_seconds", "The age of the oldest hint that no run which did well has read."),
	}
}

// Describe implements prometheus.Collector.
func (w *work) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{w.waiting, w.running, w.failing, w.oldest} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (w *work) Collect(to chan<- prometheus.Metric) {
	all, err := w.read()
	if err != nil {
		to <- prometheus.NewInvalidMetric(w.waiting, err)
		return
	}
	for _, one := range all {
		for desc, value := range map[*prometheus.Desc]float64{
			w.waiting: float64(one.Waiting), w.running: float64(one.Running),
			w.failing: float64(one.Failing), w.oldest: one.Oldest.Seconds(),
		} {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, one.Kind)
		}
	}
}

// read counts, or says again what was counted a moment ago, a failure too.
func (w *work) read() ([]Work, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if !w.at.IsZero() && now.Sub(w.at) < countEvery {
		return w.last, w.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), countWithin)
	defer cancel()
	w.last, w.err = w.count(ctx)
	w.at = now
	return w.last, w.err
}
