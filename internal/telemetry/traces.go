package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// TraceOptions say where spans go.
type TraceOptions struct {
	// Endpoint is the collector's address, to which /v1/traces is added.
	Endpoint string
	// Headers go with each request to it.
	Headers map[string]secret.String
	// HTTP is the way to it.
	HTTP http.RoundTripper
	// Ratio of the traces that are kept: above 0, up to 1.
	Ratio float64
	// Service, Version and Instance say who made the spans.
	Service, Version, Instance string
	Log                        *slog.Logger
	Now                        func() time.Time
}

// Traces are those of one service. A nil one makes no span. All methods may be called
// by many at once.
type Traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	abandon  context.CancelFunc // ends what is being sent
	log      *slog.Logger
	now      func() time.Time
}

// What waits for the collector at most, and what goes in one request: spans of about
// half a KiB. What comes when all places are taken is dropped.
const (
	maxSpans = 2048
	perBatch = 512
)

// Bounds of one span. A text is cut to so many bytes, and a list to so many texts.
const (
	maxAttributes = 32
	maxText       = 400
	maxTexts      = 20
	maxLinks      = 32
)

// How long spans wait for company, and how long a request to the collector may take.
const (
	gatherFor   = 5 * time.Second
	uploadFor   = 10 * time.Second
	scopeTraces = "promoter"
)

// NewTraces makes the traces of a service. The collector is first spoken to when
// there is something to tell it.
func NewTraces(o TraceOptions) (*Traces, error) {
	over, abandon := context.WithCancel(context.Background())
	exporter, err := otlptrace.New(over, newCollector(over, o))
	if err != nil {
		abandon()
		return nil, fault.Wrap(fault.Internal, err)
	}
	provider := sdk.NewTracerProvider(
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(o.Ratio))),
		sdk.WithRawSpanLimits(limits()),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", o.Service),
			attribute.String("service.version", o.Version),
			attribute.String("service.instance.id", o.Instance),
		)),
		sdk.WithBatcher(exporter,
			sdk.WithMaxQueueSize(maxSpans), sdk.WithMaxExportBatchSize(perBatch),
			sdk.WithBatchTimeout(gatherFor), sdk.WithExportTimeout(uploadFor)),
	)
	return &Traces{provider: provider, tracer: provider.Tracer(scopeTraces), abandon: abandon, log: o.Log, now: o.Now}, nil
}

func limits() sdk.SpanLimits {
	bounds := sdk.NewSpanLimits()
	bounds.AttributeCountLimit, bounds.AttributeValueLengthLimit, bounds.LinkCountLimit = maxAttributes, maxText, maxLinks
	return bounds
}

// Close sends what waits until the context ends. No span is made afterwards.
func (t *Traces) Close(ctx context.Context) {
	if t == nil {
		return
	}
	defer context.AfterFunc(ctx, t.abandon)()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.WarnContext(ctx, "the last traces are not delivered", slog.Any("error", err))
	}
}

// RootSpan is a span that continues none of this process.
type RootSpan struct {
	Name   string
	Server bool      // it is about a request that was taken
	At     time.Time // zero: now
	// Parent is the traceparent of a span of before, or of another process. Empty: a
	// trace begins.
	Parent string
	// Links are the traceparents of what it has to do with besides.
	Links []string
}

// Begin begins a span. It is nil where the trace is not kept.
func (t *Traces) Begin(ctx context.Context, root RootSpan, attributes ...slog.Attr) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	at := root.At
	if at.IsZero() {
		at = t.now()
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(at), trace.WithAttributes(keyValues(attributes)...)}
	if root.Server {
		options = append(options, trace.WithSpanKind(trace.SpanKindServer))
	}
	for _, link := range root.Links {
		if about := read(link); about.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: about}))
		}
	}
	return t.start(trace.ContextWithSpanContext(ctx, read(root.Parent)), ctx, root.Name, options)
}

// start begins a span under whatever from holds. A trace that is not kept leaves the
// context as it is, so that nothing below costs anything.
func (t *Traces) start(from, ctx context.Context, name string, options []trace.SpanStartOption) (context.Context, *Span) {
	inner, made := t.tracer.Start(from, valid(name), options...)
	if !made.SpanContext().IsSampled() {
		return ctx, nil
	}
	span := &Span{made: made, of: t}
	return context.WithValue(inner, spanKey{}, span), span
}

const traceparent = "traceparent"

// read reads a traceparent. What is none is no valid context.
// https://www.w3.org/TR/trace-context/#traceparent-header
func read(text string) trace.SpanContext {
	if text == "" {
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{traceparent: text})
	return trace.SpanContextFromContext(ctx)
}
