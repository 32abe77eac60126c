package app

import (
	"context"
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
const lastTracesTimeout = 5 * time.Second

// closeTraces sends the last spans.
func closeTraces(ctx context.Context, traces *telemetry.Traces) {
	if traces == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTracesTimeout)
	defer cancel()
	traces.Close(ctx)
}

// listenProfiles opens the address for profiles; nil: there is none. Profiles contain
// the memory with its secrets, so they are served to this machine only, unless an
// operator requests otherwise.
func listenProfiles(ctx context.Context, options ServeOptions) (net.Listener, error) {
	address := options.Profiles
	if address == "" {
		return nil, nil //nolint:nilnil // no listener is no error
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fault.New(fault.Invalid, "--pprof %s: write 127.0.0.1:PORT", address)
	}
	if !options.ProfilesOpen && !outbound.IsLoopback(host) {
		return nil, fault.New(fault.Invalid,
			"--pprof %s: profiles show what is in memory, secrets too: write 127.0.0.1:PORT, or add --pprof-open if no "+
				"other machine reaches that address",
			address)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.New(fault.Invalid, "--pprof: listen: %w", err)
	}
	return listener, nil
}

// profilesHeaderTimeout is the timeout for the header of a request. A response takes as
// long as the requested profile.
const profilesHeaderTimeout = 10 * time.Second

// serveProfiles serves profiles until the context ends, and aborts those in progress.
func serveProfiles(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: telemetry.Profiles(), ReadHeaderTimeout: profilesHeaderTimeout}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.Serve(listener)
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("profiles: %w", err)
}
