package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// collector sends spans with OTLP over HTTP. It implements otlptrace.Client: that of
// OpenTelemetry depends on gRPC, and has its own HTTP client.
// https://opentelemetry.io/docs/specs/otlp/#otlphttp
type collector struct {
	TraceOptions
	over   context.Context //nolint:containedctx // ends requests in progress
	client *http.Client
	url    string

	mu     sync.Mutex
	lost   int       // spans since the collector last accepted some
	logged time.Time // when that was last logged
}

func newCollector(over context.Context, o TraceOptions) *collector {
	return &collector{
		TraceOptions: o, over: over, url: strings.TrimRight(o.Endpoint, "/") + "/v1/traces",
		client: &http.Client{Transport: o.HTTP, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the headers are only for the collector
		}},
	}
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error { return nil }

// UploadTraces implements otlptrace.Client. Spans that the collector does not accept are
// dropped. It returns no error, because the library would write it to the standard error.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.over, cancel)() //nolint:contextcheck // the end of the service
	c.report(ctx, count(spans), outbound.Redact(c.post(ctx, spans)))
	return nil
}

func count(all []*tracepb.ResourceSpans) (n int) {
	for _, of := range all {
		for _, scope := range of.GetScopeSpans() {
			n += len(scope.GetSpans())
		}
	}
	return n
}

// post sends TracesData, which is the request of the OTLP service on the wire.
func (c *collector) post(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	for name, value := range c.Headers {
		request.Header.Set(name, value.Reveal())
	}
	response, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("the collector: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // only read
	_, _ = io.CopyN(io.Discard, response.Body, maxResponse)
	return errorOf(response.StatusCode)
}

// errorOf returns the error of a status.
func errorOf(status int) error {
	switch {
	case status/100 == 2:
		return nil
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests:
		return fault.New(fault.Temporary, "the collector responds with %d", status)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fault.New(fault.Unauthorized, "the collector responds with %d: check traces.headers in the server file", status)
	}
	return fault.New(fault.Invalid, "the collector responds with %d: check traces.endpoint in the server file", status)
}

// Probe checks whether the collector accepts spans, by sending none.
func Probe(ctx context.Context, o TraceOptions) error {
	return outbound.Redact(newCollector(ctx, o).post(ctx, nil))
}

// maxResponse is how much of a response is read, in bytes, so that the connection can be
// reused.
const maxResponse = 16 << 10

// logEvery is how often failures of the collector are logged.
const logEvery = 10 * time.Minute

func (c *collector) report(ctx context.Context, spans int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	switch {
	case err == nil && c.lost > 0:
		c.Log.InfoContext(ctx, "traces exported again", slog.Int("lost", c.lost))
		c.lost, c.logged = 0, time.Time{}
	case err == nil:
	default:
		c.lost += spans
		if c.logged.IsZero() || now.Sub(c.logged) >= logEvery {
			c.logged = now
			c.Log.WarnContext(ctx, "traces not exported", slog.Int("lost", c.lost), slog.Any("error", err))
		}
	}
}
