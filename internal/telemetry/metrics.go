package telemetry

import (
	"cmp"
	"context"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"promoter/internal/delivery"
	"promoter/internal/queue"
	"promoter/internal/store"
)

// Metrics are the metrics of one service. They are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	hosts    *hosts

	webhooks        *prometheus.CounterVec
	limited         *prometheus.CounterVec
	webhook         prometheus.Histogram
	events          *prometheus.CounterVec
	reports         *prometheus.CounterVec
	eventToAction   *prometheus.HistogramVec
	reconciliations *prometheus.CounterVec
	reconciliation  prometheus.Histogram
	actions         *prometheus.CounterVec
	afterLanding    *prometheus.CounterVec
	requests        *prometheus.CounterVec
	request         *prometheus.HistogramVec
	remaining       *prometheus.GaugeVec
	metadata        *prometheus.CounterVec
	unopened        *prometheus.GaugeVec
	streams         *prometheus.GaugeVec
}

// Buckets, in seconds.
var (
	short  = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	middle = []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300}
	long   = []float64{1, 2, 5, 10, 15, 20, 30, 45, 60, 120, 300, 600, 1800, 3600}
)

// Options configure Metrics.
type Options struct {
	// Hosts always have a label of their own: those of the server file.
	Hosts []string
	// Work counts the work of each kind, of which there is a closed set, at each scrape but not more
	// often than every few seconds.
	Work func(context.Context) ([]queue.Stat, error)
	Now  func() time.Time
	// Backoffs lists the hosts that receive no requests. Nil: unknown.
	Backoffs func() []Backoff
	// Targets lists all targets, and Deliveries the delivery metrics of each environment, with the
	// results since the service started. Both are called at scrapes, but not more often than every
	// few seconds. Nil: they are not exported.
	Targets    func(context.Context) ([]store.TargetRow, error)
	Deliveries func(context.Context) ([]delivery.Recent, error)
	Build      Build
}

// Build identifies the program.
type Build struct {
	Version string
	Commit  string // empty: unknown
}

// New returns the metrics of a service.
func New(options Options) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		hosts:    newHosts(options.Hosts),
		webhooks: counter("webhooks_total", "Webhooks by receiver and status.", "receiver", "status"),
		limited:  counter("clients_limited_total", "Connections, requests, bodies, and streams that a limit refused or ended.", "limit"),
		webhook:  histogram("webhook_duration_seconds", "Time to answer webhooks.", short),
		events: counter("events_total", "Events of webhooks by kind, and whether a repository subscribes to them.",
			"kind", "subscribed"),
		reports: counter("health_reports_total", "Reports about health by receiver and kind of source.", "receiver", "source"),
		eventToAction: histograms("event_to_action_seconds",
			"Time from the first trigger to the end of the reconciliation that took an action.", long, "action"),
		reconciliations: counter("reconciliations_total", "Reconciliations of repositories by result.", "result"),
		reconciliation:  histogram("reconciliation_duration_seconds", "Duration of reconciliations.", middle),
		actions:         counter("actions_total", "Actions on branches and pull requests.", "action"),
		afterLanding: counter("after_landing_total",
			"Requests to GitOps engines after landings, by destination in the server file and result.", "destination", "result"),
		requests:  counter("outbound_requests_total", "Outbound requests, including retries.", "peer", "host", "status"),
		request:   histograms("outbound_request_duration_seconds", "Time from a request to the header of its response.", short, "peer"),
		remaining: gauge("rate_limit_remaining", "Requests that a forge still allows, according to its last response.", "host"),
		metadata:  counter("image_metadata_total", "Reads of image metadata, by source.", "source"),
		unopened:  gauge("repositories_unopened", "Repositories that could not be opened the last time."),
		streams:   gauge("streams", "Open streams of changes."),
	}
	build := gauge("build_info", "The program: always 1.", "version", "commit", "goversion")
	build.WithLabelValues(options.Build.Version, options.Build.Commit, runtime.Version()).Set(1)
	own := []prometheus.Collector{
		build, m.webhooks, m.limited, m.webhook, m.events, m.reports, m.eventToAction, m.reconciliations, m.reconciliation, m.actions,
		m.afterLanding, m.requests, m.request, m.remaining, m.metadata, m.unopened, m.streams,
		newWork(options.Work, options.Now), newBackoffs(options.Backoffs, m.hosts),
	}
	m.registry.MustRegister(own...)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if options.Targets != nil {
		m.registry.MustRegister(newTargets(options.Targets, options.Now))
	}
	if options.Deliveries != nil {
		m.registry.MustRegister(newDeliveries(options.Deliveries, options.Now))
	}
	return m
}

// namespace is the prefix of all names.
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

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

// Handler answers scrapes. Metrics that cannot be collected are omitted.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// unknownReceiver replaces the names of unknown receivers. No receiver can have it.
const unknownReceiver = "(unknown)"

// Webhook counts a webhook. An empty receiver is an unknown one.
func (m *Metrics) Webhook(receiver string, status int, took time.Duration) {
	receiver = cmp.Or(receiver, unknownReceiver)
	m.webhooks.WithLabelValues(receiver, statusClass(status)).Inc()
	m.webhook.Observe(took.Seconds())
}

// Limited counts what a limit of clients refused or ended: connections, requests, bodies, or streams.
func (m *Metrics) Limited(limit string) { m.limited.WithLabelValues(limit).Inc() }

// Streams sets how many streams of changes are open.
func (m *Metrics) Streams(open int) { m.streams.WithLabelValues().Set(float64(open)) }

// WebhookEvent counts an event of one of the kinds of package event.
func (m *Metrics) WebhookEvent(kind string, subscribed bool) {
	m.events.WithLabelValues(kind, strconv.FormatBool(subscribed)).Inc()
}

// HealthReport counts a report about health, which a receiver of the server file accepted.
func (m *Metrics) HealthReport(receiver, source string) {
	m.reports.WithLabelValues(receiver, source).Inc()
}

// Reconciled counts a reconciliation. The result is one of a closed set.
func (m *Metrics) Reconciled(result string, took time.Duration) {
	m.reconciliations.WithLabelValues(result).Inc()
	m.reconciliation.Observe(took.Seconds())
}

// Unopened records how many repositories could not be opened.
func (m *Metrics) Unopened(repositories int) { m.unopened.WithLabelValues().Set(float64(repositories)) }

// Action counts an action, which is one of a closed set.
func (m *Metrics) Action(action string) { m.actions.WithLabelValues(action).Inc() }

// AfterLanding counts a request to a GitOps engine after a landing, by its destination in the server file.
func (m *Metrics) AfterLanding(destination string, succeeded bool) {
	result := "failed"
	if succeeded {
		result = "succeeded"
	}
	m.afterLanding.WithLabelValues(destination, result).Inc()
}

// EventToAction measures the time from the first trigger to an action.
func (m *Metrics) EventToAction(action string, took time.Duration) {
	m.eventToAction.WithLabelValues(action).Observe(max(took, 0).Seconds())
}

// Request counts an outbound request. The peer is a kind of host, from a closed set;
// status zero means no response.
func (m *Metrics) Request(peer, host string, status int, took time.Duration) {
	m.requests.WithLabelValues(peer, m.hosts.label(host), statusClass(status)).Inc()
	m.request.WithLabelValues(peer).Observe(took.Seconds())
}

// RateLimit records the remaining requests that a forge reported.
func (m *Metrics) RateLimit(host string, remaining int) {
	m.remaining.WithLabelValues(m.hosts.label(host)).Set(float64(remaining))
}

// ImageMetadata counts a read of the metadata of a digest, from the cache or the
// registry.
func (m *Metrics) ImageMetadata(cached bool) {
	source := "registry"
	if cached {
		source = "cache"
	}
	m.metadata.WithLabelValues(source).Inc()
}

// statusClass returns the class of an HTTP status.
func statusClass(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}

// maxHosts is the number of hosts that have a label besides those of the server file.
// Config files of repositories name registries, so their number must be limited.
const maxHosts = 50

// otherHosts replaces all hosts without a label. No host can have this name.
const otherHosts = "(other)"

// hosts assigns labels to hosts.
type hosts struct {
	mu    sync.Mutex
	known map[string]bool
	left  int
}

func newHosts(always []string) *hosts {
	h := &hosts{known: map[string]bool{}, left: maxHosts}
	for _, host := range always {
		h.known[strings.ToLower(host)] = true
	}
	return h
}

func (h *hosts) label(host string) string {
	host = strings.ToLower(host)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.known[host]:
	case h.left == 0:
		return otherHosts
	default:
		h.left--
		h.known[strings.Clone(host)] = true
	}
	return host
}
