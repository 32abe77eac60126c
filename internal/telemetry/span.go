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

// Span is a piece of work that is under way. A nil one belongs to no trace, and all
// that is told to it is forgotten.
type Span struct {
	made trace.Span
	of   *Traces
}

type spanKey struct{}

func spanOf(ctx context.Context) *Span {
	span, _ := ctx.Value(spanKey{}).(*Span)
	return span
}

// Begin begins a span within that of the context. Where there is none, none begins.
func Begin(ctx context.Context, name string, attributes ...slog.Attr) (context.Context, *Span) {
	within := spanOf(ctx)
	if within == nil {
		return ctx, nil
	}
	return within.of.start(ctx, ctx, name, []trace.SpanStartOption{
		trace.WithTimestamp(within.of.now()), trace.WithAttributes(keyValues(attributes)...),
	})
}

// CompletedSpan is work that is over.
type CompletedSpan struct {
	Name   string
	Client bool // it is a request that was sent
	Began  time.Time
	Took   time.Duration
	Failed string // why it did not succeed; empty: it did
}

// Add adds work that is over to the span of the context.
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

// Set tells the span of the context more about its work.
func Set(ctx context.Context, attributes ...slog.Attr) { spanOf(ctx).Set(attributes...) }

// Set tells more about the work.
func (s *Span) Set(attributes ...slog.Attr) {
	if s != nil {
		s.made.SetAttributes(keyValues(attributes)...)
	}
}

// End ends the span. An error says why the work failed.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil {
		s.made.SetStatus(codes.Error, outbound.Scrub(err.Error()))
	}
	s.made.End(trace.WithTimestamp(s.of.now()))
}

// Parent is the traceparent by which later work continues the span. Empty: the trace
// is not kept.
func (s *Span) Parent() string {
	if s == nil {
		return ""
	}
	about := s.made.SpanContext()
	return fmt.Sprintf("00-%s-%s-%s", about.TraceID(), about.SpanID(), about.TraceFlags())
}

// Parent is that of the span of the context.
func Parent(ctx context.Context) string { return spanOf(ctx).Parent() }

// keyValues are attributes as OpenTelemetry has them. A value that does not want to be
// seen, a secret, is not.
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

// valid is a text as OTLP takes it. One that is no UTF-8 would take all spans with it
// that go in the same request.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

func allValid(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = valid(text)
	}
	return all
}
