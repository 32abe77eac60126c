package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"promoter/internal/connect"
	"promoter/internal/delivery"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/queue"
	"promoter/internal/serverfile"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// newMetrics returns the metrics of the service.
func newMetrics(
	s *serverfile.Server, work *queue.Queue, stored *store.Store, build telemetry.Build, backoffs func() []connect.Backoff,
) *telemetry.Metrics {
	started := s.Now().Truncate(time.Second) // as the times of Git and forges
	var hosts []string
	for _, forge := range s.File.Forges {
		hosts = append(hosts, outbound.Host(forge.URL))
	}
	for _, registry := range s.File.Registries {
		hosts = append(hosts, registry.Host)
	}
	return telemetry.New(telemetry.Options{
		Hosts: hosts, Now: s.Now,
		Backoffs: func() (all []telemetry.Backoff) {
			now := s.Now()
			for _, one := range backoffs() {
				all = append(all, telemetry.Backoff{Peer: one.To, Host: one.Host, Remaining: one.Until.Sub(now)})
			}
			return all
		},
		Work:    work.Stats,
		Targets: stored.Targets.Overview,
		Deliveries: func(ctx context.Context) ([]delivery.Recent, error) {
			return delivery.ReadRecent(ctx, stored.Milestones, started, s.Now())
		},
		Build: build,
	})
}

// observeRequest counts the requests to other machines and adds their spans. Only a
// missing response and an error of the server fail a span.
// https://opentelemetry.io/docs/specs/semconv/http/http-spans/
func observeRequest(metrics *telemetry.Metrics) func(ctx context.Context, to string, exchange outbound.Exchange) {
	return func(ctx context.Context, to string, exchange outbound.Exchange) {
		span := telemetry.CompletedSpan{
			Name: strings.TrimSpace(exchange.Method + " " + exchange.Route), Client: true, Began: exchange.Began, Took: exchange.Took,
		}
		switch {
		case exchange.Status == 0:
			span.Failed = "no answer"
		case exchange.Status >= http.StatusInternalServerError, exchange.Status == http.StatusTooManyRequests:
			span.Failed = http.StatusText(exchange.Status)
		}
		attributes := []slog.Attr{
			slog.String("promoter.peer", to),
			slog.String("http.request.method", exchange.Method),
			slog.String("server.address", exchange.Host),
			slog.String("url.template", exchange.Route),
			slog.Int("http.response.status_code", exchange.Status),
		}
		telemetry.Add(ctx, span, attributes...)
		metrics.Request(to, exchange.Host, exchange.Status, exchange.Took)
		if to == connect.ToForge && exchange.Remaining >= 0 {
			metrics.RateLimit(exchange.Host, exchange.Remaining)
		}
	}
}

// newTraces returns the traces for the collector of the server file; nil: it has none.
func newTraces(c *connect.Connections, instance string, options ServeOptions) (*telemetry.Traces, error) {
	if c.Server.File.Traces.Endpoint == "" {
		return nil, nil //nolint:nilnil // no collector is no error
	}
	to, err := c.TraceOptions(instance)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	to.Version, to.Log = options.Build.Version, options.Log
	return telemetry.NewTraces(to)
}

// lastTracesTimeout is how long the end of the process waits for the collector.
const lastTracesTimeout = 2 * time.Second

// closeTraces sends the last spans.
func closeTraces(ctx context.Context, traces *telemetry.Traces) {
	if traces == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTracesTimeout)
	defer cancel()
	traces.Close(ctx)
}

// listenMetrics opens the address for metrics and profiles; nil: there is none. It is not
// the address of webhooks and pages: the metrics name the environments of all repositories.
func listenMetrics(ctx context.Context, s *serverfile.Server, options ServeOptions) (net.Listener, error) {
	address := s.File.Metrics.Listen
	switch {
	case options.MetricsListener != nil:
		return options.MetricsListener, nil
	case address == "" && options.Profiles != telemetry.NoProfiles:
		return nil, fault.New(fault.Invalid, "--pprof: set metrics.listen in the server file: profiles are served there")
	case address == "":
		return nil, nil //nolint:nilnil // no listener is no error
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.New(fault.Invalid, "metrics.listen: %w: another program may have the port", err)
	}
	return listener, nil
}

// Limits of a client that reads metrics or profiles. Package pprof extends the time for a
// response by that of the requested profile.
const (
	metricsReadTimeout  = 10 * time.Second
	metricsWriteTimeout = time.Minute
	metricsMaxHeader    = 16 << 10
)

// serveMetrics serves metrics and profiles until the context ends, and aborts requests in
// progress. It uses the certificate of the service, if there is one.
func serveMetrics(ctx context.Context, listener net.Listener, answer http.Handler, certificate *tls.Config) error {
	server := &http.Server{
		Handler: answer, MaxHeaderBytes: metricsMaxHeader,
		ReadTimeout: metricsReadTimeout, WriteTimeout: metricsWriteTimeout, IdleTimeout: metricsWriteTimeout,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // about errors of clients
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	serve := server.Serve
	if certificate != nil {
		server.TLSConfig = certificate.Clone() // the server adds protocols
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	err := serve(listener)
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("metrics: %w", err)
}
