package telemetry

import (
	"context"
	"log/slog"
)

// LogHandler adds the trace to the lines of a log: trace_id and span_id, as OpenTelemetry
// calls them in other formats.
// https://opentelemetry.io/docs/specs/otel/compatibility/logging_trace_context/
func LogHandler(to slog.Handler) slog.Handler { return lines{to} }

type lines struct{ slog.Handler }

// Handle implements slog.Handler.
func (l lines) Handle(ctx context.Context, line slog.Record) error {
	if span := spanOf(ctx); span != nil {
		about := span.made.SpanContext()
		line = line.Clone()
		line.AddAttrs(slog.String("trace_id", about.TraceID().String()), slog.String("span_id", about.SpanID().String()))
	}
	return l.Handler.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (l lines) WithAttrs(attributes []slog.Attr) slog.Handler {
	return lines{l.Handler.WithAttrs(attributes)}
}

// WithGroup implements slog.Handler.
func (l lines) WithGroup(name string) slog.Handler { return lines{l.Handler.WithGroup(name)} }
