package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"promoter/internal/outbound"
)

// Span is work in progress. A nil Span belongs to no trace, and ignores all calls.
type Span struct {
	made trace.Span
	of   *Traces
}

type spanKey struct{}

func spanOf(ctx context.Context) *Span {
	span, _ := ctx.Value(spanKey{}).(*Span)
	return span
}

// Begin begins a child of the span of the context. Without one, it returns nil.
func Begin(ctx context.Context, name string, attributes ...slog.Attr) (context.Context, *Span) {
	within := spanOf(ctx)
	if within == nil {
		return ctx, nil
	}
	return within.of.start(ctx, ctx, name, []trace.SpanStartOption{
		trace.WithTimestamp(within.of.now()), trace.WithAttributes(keyValues(attributes)...),
	})
}

// CompletedSpan is work that has ended.
type CompletedSpan struct {
	Name   string
	Client bool // it is an outbound request
	Began  time.Time
	Took   time.Duration
	Failed string // the error; empty: it succeeded
}

// Add adds work that has ended to the span of the context.
func Add(ctx context.Context, past CompletedSpan, attributes ...slog.Attr) {
	within := spanOf(ctx)
	if within == nil {
		return
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(past.Began), trace.WithAttributes(keyValues(attributes)...)}
	if past.Client {
		options = append(options, trace.WithSpanKind(trace.SpanKindClient))
	}
	_, made := within.of.tracer.Start(ctx, valid(past.Name), options...)
	if past.Failed != "" {
		made.SetStatus(codes.Error, outbound.Scrub(past.Failed))
	}
	made.End(trace.WithTimestamp(past.Began.Add(past.Took)))
}

// Set sets attributes of the span of the context.
func Set(ctx context.Context, attributes ...slog.Attr) { spanOf(ctx).Set(attributes...) }

// Set sets attributes.
func (s *Span) Set(attributes ...slog.Attr) {
	if s != nil {
		s.made.SetAttributes(keyValues(attributes)...)
	}
}

// End ends the span, with an error if the work failed.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil {
		s.made.SetStatus(codes.Error, outbound.Scrub(err.Error()))
	}
	s.made.End(trace.WithTimestamp(s.of.now()))
}

// Parent returns the traceparent with which later work continues the span. Empty: the
// trace is not sampled.
func (s *Span) Parent() string {
	if s == nil {
		return ""
	}
	about := s.made.SpanContext()
	return fmt.Sprintf("00-%s-%s-%s", about.TraceID(), about.SpanID(), about.TraceFlags())
}

// Parent returns the traceparent of the span of the context.
func Parent(ctx context.Context) string { return spanOf(ctx).Parent() }

// keyValues converts attributes. Secrets resolve to a placeholder.
func keyValues(attributes []slog.Attr) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, len(attributes))
	for _, a := range attributes {
		value := a.Value.Resolve()
		switch value.Kind() {
		case slog.KindInt64:
			all = append(all, attribute.Int64(a.Key, value.Int64()))
		case slog.KindBool:
			all = append(all, attribute.Bool(a.Key, value.Bool()))
		default:
			if texts, ok := value.Any().([]string); ok {
				all = append(all, attribute.StringSlice(a.Key, allValid(texts[:min(len(texts), maxTexts)])))
				continue
			}
			all = append(all, attribute.String(a.Key, valid(value.String())))
		}
	}
	return all
}

// valid returns valid UTF-8: otherwise the whole request with the span would be refused.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

func allValid(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = valid(text)
	}
	return all
}

// LogHandler adds the trace to log records: trace_id and span_id, the names that
// OpenTelemetry uses in formats other than its own.
// https://opentelemetry.io/docs/specs/otel/compatibility/logging_trace_context/
func LogHandler(to slog.Handler) slog.Handler { return logHandler{to} }

type logHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h logHandler) Handle(ctx context.Context, record slog.Record) error {
	if span := spanOf(ctx); span != nil {
		about := span.made.SpanContext()
		record = record.Clone()
		record.AddAttrs(slog.String("trace_id", about.TraceID().String()), slog.String("span_id", about.SpanID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attributes)}
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }
