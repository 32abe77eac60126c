package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"promoter/internal/engine"
	"promoter/internal/outbound"
	"promoter/internal/queue"
	"promoter/internal/secret"
	"promoter/internal/server"
	"promoter/internal/telemetry"
)

// What spans say, by the names of OpenTelemetry where it has one, and else our own.
// https://opentelemetry.io/docs/specs/semconv/http/http-spans/
const (
	traceMethod = "http.request.method"
	traceStatus = "http.response.status_code"
	traceHost   = "server.address"
	traceRoute  = "url.template"

	traceTo           = "promoter.to"
	traceReceiver     = "promoter.receiver"
	traceDelivery     = "promoter.delivery"
	traceEvent        = "promoter.event"
	traceHints        = "promoter.hints"
	traceIgnored      = "promoter.ignored"
	traceKeys         = "promoter.keys"
	traceKey          = "promoter.key"
	traceRepository   = "promoter.repository"
	traceAttempt      = "promoter.attempt"
	traceHintedAt     = "promoter.hinted_at"
	traceDeliveries   = "promoter.deliveries"
	traceResult       = "promoter.result"
	traceBranches     = "promoter.branches"
	traceEnvironment  = "promoter.environment"
	traceApplications = "promoter.applications"
	tracePullRequest  = "promoter.pull_request"
	traceCommit       = "promoter.commit"
)

// spanLook is the span of a look at a repository.
const spanLook = "look"

// What the end waits for the collector, and what a request to it may take.
const (
	untraceFor = 5 * time.Second
	uploadFor  = 10 * time.Second
)

// trace makes traces if the file names a collector, and lets the lines of the log name
// them. The function sends the last ones.
func (s *Server) trace(ctx context.Context, options *ServeOptions) (func(), error) {
	if s.file.Traces.Endpoint == "" {
		return func() {}, nil
	}
	where, err := s.collector()
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	where.Version, where.Log = options.Version, options.Log
	made, err := telemetry.NewTraces(where) //nolint:contextcheck // the last spans are sent after its end
	if err != nil {
		return nil, err
	}
	s.traces = made
	options.Log = slog.New(telemetry.LogHandler(options.Log.Handler()))
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), untraceFor)
		defer cancel()
		made.Close(ctx)
	}, nil
}

// collector says where spans go.
func (s *Server) collector() (where telemetry.TraceOptions, err error) {
	file := s.file.Traces
	headers := map[string]secret.String{}
	for _, header := range file.Headers {
		value, err := header.Value.Resolve(s.sources())
		if err != nil {
			return where, fmt.Errorf("the header %s: %w", header.Name, err)
		}
		headers[header.Name] = value
	}
	var insecure []string
	if file.Insecure {
		insecure = []string{hostOf(file.Endpoint)}
	}
	way, err := s.way(toCollector, insecure, uploadFor)
	if err != nil {
		return where, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return telemetry.TraceOptions{
		Endpoint: file.Endpoint, Headers: headers, HTTP: way, Ratio: file.Ratio,
		Service: file.Service, Instance: host, Now: s.now,
	}, nil
}

// followDelivery is a webhook that was proven: strangers make no spans. Whatever trace
// the sender is at is told and decides nothing.
func (s *service) followDelivery(ctx context.Context, taken server.Accepted, traceparent string) (context.Context, func(int, error)) {
	ctx, span := s.traces.Begin(ctx, telemetry.RootSpan{Name: "delivery", Server: true, At: taken.At, Links: []string{traceparent}},
		slog.String(traceReceiver, taken.Receiver), slog.String(traceDelivery, taken.ID), slog.String(traceEvent, taken.EventType),
		slog.Int(traceHints, len(taken.Events)))
	if taken.Ignored != "" {
		span.Set(slog.String(traceIgnored, taken.Ignored))
	}
	return ctx, func(status int, err error) {
		span.Set(slog.Int(traceStatus, status))
		if status < http.StatusInternalServerError {
			err = nil // that is the sender's
		}
		span.End(err)
	}
}

// tracedBy has the runs that hints lead to know of the span.
func tracedBy(parent string, work []queue.Trigger) []queue.Trigger {
	for i := range work {
		work[i].Trace = parent
	}
	return work
}

// sameTrace is how long a look may come after its first hint and still stand in one
// trace with it: one of days is found by nobody.
const sameTrace = time.Hour

// followRun is a run of the queue. It stands in the trace of its first webhook and is
// linked to the others, in both directions.
func (s *service) followRun(ctx context.Context, item queue.Item) (context.Context, func(error)) {
	name := item.Kind
	if name == kindLane {
		name = spanLook
	}
	root, others := telemetry.RootSpan{Name: name, Links: item.Traces}, item.Traces
	if len(item.Traces) > 0 && s.now().Sub(item.TriggeredAt) < sameTrace {
		root.Parent, others = item.Traces[0], item.Traces[1:]
		root.Links = others
	}
	inner, span := s.traces.Begin(ctx, root, slog.String(traceKey, item.Key), slog.Int(traceAttempt, item.Attempt),
		slog.Int(traceDeliveries, len(item.Traces)))
	if span == nil {
		return ctx, func(error) {}
	}
	if !item.TriggeredAt.IsZero() {
		span.Set(slog.String(traceHintedAt, item.TriggeredAt.UTC().Format(time.RFC3339Nano)))
	}
	ends := []*telemetry.Span{span}
	for _, other := range others {
		_, pointer := s.traces.Begin(ctx, telemetry.RootSpan{Name: name, Parent: other, Links: []string{span.Parent()}}, slog.String(traceKey, item.Key))
		ends = append(ends, pointer)
	}
	return inner, func(err error) {
		for _, one := range ends {
			one.End(err)
		}
	}
}

// followLook follows the parts of a look; nil: nobody does.
func (s *service) followLook(ctx context.Context, r *repository) engine.Tracer {
	if telemetry.Parent(ctx) == "" {
		return nil
	}
	telemetry.Set(ctx, slog.String(traceRepository, r.name))
	return func(ctx context.Context, part string) (context.Context, func([]engine.Effect, error)) {
		began := s.now()
		ctx, span := telemetry.Begin(ctx, part)
		return ctx, func(all []engine.Effect, err error) {
			for _, done := range all {
				s.followAct(ctx, began, done)
			}
			span.End(err)
		}
	}
}

// followAct is what was done about a proposal.
func (s *service) followAct(ctx context.Context, began time.Time, done engine.Effect) {
	past := telemetry.CompletedSpan{Name: string(done.Action), Began: began, Took: s.now().Sub(began)}
	switch {
	case done.Err != nil:
		past.Name, past.Failed = actFailed, done.Err.Error()
	case done.Action == engine.ActionNone:
		return
	}
	about := []slog.Attr{slog.String(traceEnvironment, done.Environment.Name), slog.Any(traceApplications, applicationsOf(done))}
	if done.Number != 0 {
		about = append(about, slog.Int(tracePullRequest, done.Number))
	}
	if done.Commit != "" {
		about = append(about, slog.String(traceCommit, done.Commit))
	}
	telemetry.Add(ctx, past, about...)
}

// followRequest is a request that was sent. What says no is an answer; what says
// nothing, or that the server is at fault, is a failure.
func followRequest(ctx context.Context, to string, answer outbound.Answer) {
	past := telemetry.CompletedSpan{
		Name: strings.TrimSpace(answer.Method + " " + answer.Route), Client: true, Began: answer.Began, Took: answer.Took,
	}
	switch {
	case answer.Status == 0:
		past.Failed = "no answer"
	case answer.Status >= http.StatusInternalServerError, answer.Status == http.StatusTooManyRequests:
		past.Failed = http.StatusText(answer.Status)
	}
	telemetry.Add(ctx, past, slog.String(traceTo, to), slog.String(traceMethod, answer.Method), slog.String(traceHost, answer.Host),
		slog.String(traceRoute, answer.Route), slog.Int(traceStatus, answer.Status))
}
