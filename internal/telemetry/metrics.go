package telemetry

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are those of one service. All methods may be called by many at once.
type Metrics struct {
	registry *prometheus.Registry
	hosts    *hosts

	deliveries *prometheus.CounterVec
	delivery   prometheus.Histogram
	hints      *prometheus.CounterVec
	hintToAct  *prometheus.HistogramVec
	looks      *prometheus.CounterVec
	look       prometheus.Histogram
	acts       *prometheus.CounterVec
	requests   *prometheus.CounterVec
	request    *prometheus.HistogramVec
	remaining  *prometheus.GaugeVec
	facts      *prometheus.CounterVec
}

// Buckets, in seconds.
var (
	short  = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	middle = []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300}
	long   = []float64{1, 2, 5, 10, 15, 20, 30, 45, 60, 120, 300, 600, 1800, 3600}
)

// Options wire Metrics.
type Options struct {
	// Hosts always have a label of their own: those of the server's file.
	Hosts []string
	// Work counts the work that there is, at each scrape but not more often than every
	// few seconds.
	Work Counter
	Now  func() time.Time
	// Backoffs lists the hosts that are sent nothing. Nil: nobody knows.
	Backoffs func() []Backoff
}

// New makes the metrics of a service.
func New(options Options) *Metrics {
	m := &Metrics{
		registry:   prometheus.NewRegistry(),
		hosts:      newHosts(options.Hosts),
		deliveries: counter("deliveries_total", "Webhooks by receiver and status.", "receiver", "status"),
		delivery:   histogram("delivery_seconds", "How long webhooks took to be answered.", short),
		hints:      counter("hints_total", "Hints of webhooks by what they are about, and whether somebody follows it.", "kind", "followed"),
		hintToAct:  histograms("hint_to_act_seconds", "From the first hint to the end of the look that did something.", long, "act"),
		looks:      counter("looks_total", "Looks at repositories by how they ended.", "result"),
		look:       histogram("look_seconds", "How long looks at repositories took.", middle),
		acts:       counter("acts_total", "What was done about proposals.", "act"),
		requests:   counter("requests_total", "Requests that were sent, repetitions included.", "to", "host", "status"),
		request:    histograms("request_seconds", "From a request to the head of its answer.", short, "to"),
		remaining:  gauge("rate_limit_remaining", "Requests that a forge still allows, as its last answer said.", "host"),
		facts:      counter("facts_total", "What digests say about themselves, by where it was read.", "from"),
	}
	m.registry.MustRegister(
		m.deliveries, m.delivery, m.hints, m.hintToAct, m.looks, m.look, m.acts, m.requests, m.request, m.remaining, m.facts,
		newWork(options.Work, options.Now), newPauses(options.Backoffs, m.hosts),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// namespace stands before all names.
const namespace = "promoter"

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

// Handler answers scrapes. What cannot be counted at the moment is left out.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// noReceiver stands for every name that is none: no receiver can be called so.
const noReceiver = "(unknown)"

// Webhook counts a webhook. An empty receiver is one that there is none of.
func (m *Metrics) Webhook(receiver string, status int, took time.Duration) {
	if receiver == "" {
		receiver = noReceiver
	}
	m.deliveries.WithLabelValues(receiver, class(status)).Inc()
	m.delivery.Observe(took.Seconds())
}

// WebhookEvent counts a hint of one of the kinds of package event.
func (m *Metrics) WebhookEvent(kind string, followed bool) {
	m.hints.WithLabelValues(kind, strconv.FormatBool(followed)).Inc()
}

// Reconciled counts a look at a repository. The result is one of a closed set.
func (m *Metrics) Reconciled(result string, took time.Duration) {
	m.looks.WithLabelValues(result).Inc()
	m.look.Observe(took.Seconds())
}

// Action counts what was done about a proposal, which is one of a closed set.
func (m *Metrics) Action(act string) { m.acts.WithLabelValues(act).Inc() }

// EventToAction measures from the first hint to what came of it.
func (m *Metrics) EventToAction(act string, took time.Duration) {
	m.hintToAct.WithLabelValues(act).Observe(max(took, 0).Seconds())
}

// Request counts a request. To says what kind of host that is, of a closed set;
// status zero is no answer.
func (m *Metrics) Request(to, host string, status int, took time.Duration) {
	m.requests.WithLabelValues(to, m.hosts.label(host), class(status)).Inc()
	m.request.WithLabelValues(to).Observe(took.Seconds())
}

// RateLimit keeps what a forge said about its limit last.
func (m *Metrics) RateLimit(host string, remaining int) {
	m.remaining.WithLabelValues(m.hosts.label(host)).Set(float64(remaining))
}

// ImageMetadata counts what a digest says about itself: remembered, or asked for.
func (m *Metrics) ImageMetadata(remembered bool) {
	from := "registry"
	if remembered {
		from = "memory"
	}
	m.facts.WithLabelValues(from).Inc()
}

// class is the class of a status of HTTP.
func class(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}
