package service

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"promoter/internal/queue"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/server"
	"promoter/internal/telemetry"
)

// TraceWebhook returns what begins the span of a webhook that was verified; others have
// none. The trace of the sender becomes a link and decides nothing. The attributes of spans have
// the names of OpenTelemetry where it has one, otherwise our own.
func TraceWebhook(traces *telemetry.Traces) func(context.Context, server.Accepted, string) (context.Context, func(int, error)) {
	return func(ctx context.Context, accepted server.Accepted, traceparent string) (context.Context, func(int, error)) {
		root := telemetry.RootSpan{Name: "webhook", Server: true, At: accepted.At, Links: []string{traceparent}}
		receiver, delivery := slog.String("promoter.receiver", accepted.Receiver), slog.String("promoter.delivery", accepted.ID)
		ctx, span := traces.Begin(ctx, root, receiver, delivery,
			slog.String("promoter.event", accepted.EventType), slog.Int("promoter.events", len(accepted.Events)))
		if accepted.Ignored != "" {
			span.Set(slog.String("promoter.ignored", accepted.Ignored))
		}
		return ctx, func(status int, err error) {
			span.Set(slog.Int("http.response.status_code", status))
			if status < http.StatusInternalServerError {
				err = nil // an error of the sender
			}
			span.End(err)
		}
	}
}

// tracedBy adds the span that caused the triggers.
func tracedBy(parent string, triggers []queue.Trigger) []queue.Trigger {
	for i := range triggers {
		triggers[i].Trace = parent
	}
	return triggers
}

// sameTrace is how long after its first trigger a run is still part of that trace. A
// trace of several days would be hard to find.
const sameTrace = time.Hour

// traceRun returns what begins the span of a run of the queue. The span is part of the
// trace of the first webhook that triggered the run, and the other traces link to it and
// back.
func traceRun(traces *telemetry.Traces, now func() time.Time) func(context.Context, queue.Item) (context.Context, func(error)) {
	return func(ctx context.Context, item queue.Item) (context.Context, func(error)) {
		name := item.Kind
		if name == KindRepository {
			name = "reconcile"
		}
		root, others := telemetry.RootSpan{Name: name, Links: item.Traces}, item.Traces
		if len(item.Traces) > 0 && now().Sub(item.TriggeredAt) < sameTrace {
			root.Parent, others = item.Traces[0], item.Traces[1:]
			root.Links = others
		}
		inner, span := traces.Begin(ctx, root, slog.String("promoter.key", item.Key), slog.Int("promoter.attempt", item.Attempt),
			slog.Int("promoter.deliveries", len(item.Traces)))
		if span == nil {
			return ctx, func(error) {}
		}
		if !item.TriggeredAt.IsZero() {
			span.Set(slog.String("promoter.triggered_at", item.TriggeredAt.UTC().Format(time.RFC3339Nano)))
		}
		spans := []*telemetry.Span{span}
		for _, other := range others {
			_, pointer := traces.Begin(ctx, telemetry.RootSpan{Name: name, Parent: other, Links: []string{span.Parent()}},
				slog.String("promoter.key", item.Key))
			spans = append(spans, pointer)
		}
		return inner, func(err error) {
			for _, one := range spans {
				one.End(err)
			}
		}
	}
}

// traceReconciliation returns the tracer of the parts of a reconciliation; nil if the
// run is not traced.
func traceReconciliation(ctx context.Context, repository string, now func() time.Time) outcome.Tracer {
	if telemetry.Parent(ctx) == "" {
		return nil
	}
	telemetry.Set(ctx, slog.String("promoter.repository", repository))
	return func(ctx context.Context, part string) (context.Context, func([]outcome.Effect, error)) {
		began := now()
		ctx, span := telemetry.Begin(ctx, part)
		return ctx, func(effects []outcome.Effect, err error) {
			for _, effect := range effects {
				traceEffect(ctx, began, now().Sub(began), effect)
			}
			span.End(err)
		}
	}
}

// traceEffect adds a span for an effect.
func traceEffect(ctx context.Context, began time.Time, took time.Duration, effect outcome.Effect) {
	span := telemetry.CompletedSpan{Name: string(effect.Action), Began: began, Took: took}
	switch {
	case effect.Err != nil:
		span.Name, span.Failed = actionFailed, effect.Err.Error()
	case effect.Action == outcome.ActionNone:
		return
	}
	attrs := []slog.Attr{
		slog.String("promoter.environment", effect.Environment.Name),
		slog.Any("promoter.applications", applicationsOf(effect)),
	}
	if effect.Number != 0 {
		attrs = append(attrs, slog.Int("promoter.pull_request", effect.Number))
	}
	if effect.Commit != "" {
		attrs = append(attrs, slog.String("promoter.commit", effect.Commit))
	}
	telemetry.Add(ctx, span, attrs...)
}
