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

// TraceOptions configure the export of spans.
type TraceOptions struct {
	// Endpoint is the collector's address, to which /v1/traces is added.
	Endpoint string
	// Headers are sent with each request.
	Headers map[string]secret.String
	// HTTP sends the requests.
	HTTP http.RoundTripper
	// Ratio is the part of the traces that is sampled: above 0, up to 1.
	Ratio float64
	// Service, Version, and Instance identify the process.
	Service, Version, Instance string
	Log                        *slog.Logger
	Now                        func() time.Time
}

// Traces are the traces of one service. Nil Traces create no spans. They are safe for
// concurrent use.
type Traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	abandon  context.CancelFunc // ends requests in progress
	log      *slog.Logger
	now      func() time.Time
}

// Limits of the spans, of about half a KiB each, that wait for the collector, and of one
// request. Further spans are dropped.
const (
	maxSpans = 2048
	perBatch = 512
)

// Limits of one span. Texts are truncated to maxText bytes, lists to maxTexts.
const (
	maxAttributes = 32
	maxText       = 400
	maxTexts      = 20
	maxLinks      = 32
)

// How long spans are collected for a request, and the timeout of requests.
const (
	gatherFor   = 5 * time.Second
	uploadFor   = 10 * time.Second
	scopeTraces = "promoter"
)

// NewTraces returns the traces of a service. It does not connect to the collector.
func NewTraces(o TraceOptions) (*Traces, error) {
	over, abandon := context.WithCancel(context.Background())
	exporter, err := otlptrace.New(over, newCollector(over, o))
	if err != nil {
		abandon()
		return nil, fault.Wrap(fault.Internal, err)
	}
	service := resource.NewSchemaless(
		attribute.String("service.name", o.Service),
		attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", o.Instance),
	)
	batches := []sdk.BatchSpanProcessorOption{
		sdk.WithMaxQueueSize(maxSpans), sdk.WithMaxExportBatchSize(perBatch),
		sdk.WithBatchTimeout(gatherFor), sdk.WithExportTimeout(uploadFor),
	}
	sampler := sdk.ParentBased(sdk.TraceIDRatioBased(o.Ratio))
	provider := sdk.NewTracerProvider(
		sdk.WithSampler(sampler), sdk.WithRawSpanLimits(limits()), sdk.WithResource(service), sdk.WithBatcher(exporter, batches...),
	)
	return &Traces{provider: provider, tracer: provider.Tracer(scopeTraces), abandon: abandon, log: o.Log, now: o.Now}, nil
}

func limits() sdk.SpanLimits {
	bounds := sdk.NewSpanLimits()
	bounds.AttributeCountLimit = maxAttributes
	bounds.AttributeValueLengthLimit = maxText
	bounds.LinkCountLimit = maxLinks
	return bounds
}

// Close sends the remaining spans until the context ends. No spans are created
// afterwards.
func (t *Traces) Close(ctx context.Context) {
	if t == nil {
		return
	}
	defer context.AfterFunc(ctx, t.abandon)()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.WarnContext(ctx, "last traces not exported", slog.Any("error", err))
	}
}

// RootSpan is a span without a parent in this process.
type RootSpan struct {
	Name   string
	Server bool      // it is about an inbound request
	At     time.Time // zero: now
	// Parent is the traceparent of an earlier span, or of another process. Empty: a new
	// trace begins.
	Parent string
	// Links are the traceparents of related spans.
	Links []string
}

// Begin begins a span. It is nil if the trace is not sampled.
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

// start begins a span as a child of that in from. If the trace is not sampled, it
// returns ctx, so that nothing below it costs anything.
func (t *Traces) start(from, ctx context.Context, name string, options []trace.SpanStartOption) (context.Context, *Span) {
	inner, made := t.tracer.Start(from, valid(name), options...)
	if !made.SpanContext().IsSampled() {
		return ctx, nil
	}
	span := &Span{made: made, of: t}
	return context.WithValue(inner, spanKey{}, span), span
}

const traceparent = "traceparent"

// read parses a traceparent. An invalid one is an invalid context.
// https://www.w3.org/TR/trace-context/#traceparent-header
func read(text string) trace.SpanContext {
	if text == "" {
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{traceparent: text})
	return trace.SpanContextFromContext(ctx)
}
