package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"promoter/internal/connect"
	"promoter/internal/engine"
	"promoter/internal/outbound"
	"promoter/internal/queue"
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

	traceTo           = "promoter.peer"
	traceReceiver     = "promoter.receiver"
	traceDelivery     = "promoter.delivery"
	traceEvent        = "promoter.event"
	traceEvents       = "promoter.events"
	traceIgnored      = "promoter.ignored"
	traceKeys         = "promoter.keys"
	traceKey          = "promoter.key"
	traceRepository   = "promoter.repository"
	traceAttempt      = "promoter.attempt"
	traceTriggeredAt  = "promoter.triggered_at"
	traceDeliveries   = "promoter.deliveries"
	traceResult       = "promoter.result"
	traceEnvironment  = "promoter.environment"
	traceApplications = "promoter.applications"
	tracePullRequest  = "promoter.pull_request"
	traceCommit       = "promoter.commit"
)

// spanLook is the span of a look at a repository.
const spanLook = "reconcile"

// untraceFor is how long the end waits for the collector.
const untraceFor = 5 * time.Second

// newTraces makes traces if the server file names a collector; nil: it names none.
func newTraces(c *connect.Connections, instance string, options ServeOptions) (*telemetry.Traces, error) {
	if c.Server.File.Traces.Endpoint == "" {
		return nil, nil //nolint:nilnil // no collector is no error
	}
	to, err := c.TraceOptions(instance)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	to.Version, to.Log = options.Version, options.Log
	return telemetry.NewTraces(to)
}

// closeTraces sends the last spans.
func (s *service) closeTraces(ctx context.Context) {
	if s.traces == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), untraceFor)
	defer cancel()
	s.traces.Close(ctx)
}

// followDelivery is a webhook that was proven: strangers make no spans. Whatever trace
// the sender is at is told and decides nothing.
func (s *service) followDelivery(ctx context.Context, taken server.Accepted, traceparent string) (context.Context, func(int, error)) {
	ctx, span := s.traces.Begin(ctx, telemetry.RootSpan{Name: "webhook", Server: true, At: taken.At, Links: []string{traceparent}},
		slog.String(traceReceiver, taken.Receiver), slog.String(traceDelivery, taken.ID), slog.String(traceEvent, taken.EventType),
		slog.Int(traceEvents, len(taken.Events)))
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
		span.Set(slog.String(traceTriggeredAt, item.TriggeredAt.UTC().Format(time.RFC3339Nano)))
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
func (s *service) followLook(ctx context.Context, r *connect.Repository) engine.Tracer {
	if telemetry.Parent(ctx) == "" {
		return nil
	}
	telemetry.Set(ctx, slog.String(traceRepository, r.Name))
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
func followRequest(ctx context.Context, to string, answer outbound.Exchange) {
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
