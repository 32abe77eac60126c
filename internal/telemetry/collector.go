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

// collector sends spans by OTLP over HTTP. It implements otlptrace.Client; the one of
// OpenTelemetry brings all of gRPC with it, and its own HTTP client.
// https://opentelemetry.io/docs/specs/otlp/#otlphttp
type collector struct {
	TraceOptions
	over   context.Context //nolint:containedctx // ends what is being sent, whoever began it
	client *http.Client
	url    string

	mu   sync.Mutex
	lost int       // spans since the collector took some last
	told time.Time // when that was logged last
}

func newCollector(over context.Context, o TraceOptions) *collector {
	return &collector{
		TraceOptions: o, over: over, url: strings.TrimRight(o.Endpoint, "/") + "/v1/traces",
		client: &http.Client{Transport: o.HTTP, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the headers are for the collector alone
		}},
	}
}

// Start implements otlptrace.Client: there is nothing to open.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error { return nil }

// UploadTraces implements otlptrace.Client. What the collector does not take is lost:
// to keep it would cost memory, and nothing rests on it. The library would write a
// failure to the standard error, so there is none here.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.over, cancel)() //nolint:contextcheck // the end of the service, whatever began this
	c.tell(ctx, count(spans), outbound.Redact(c.post(ctx, spans)))
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

// post sends TracesData, which on the wire is the request that the service of OTLP
// takes.
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
	defer response.Body.Close() //nolint:errcheck // it is only read
	_, _ = io.CopyN(io.Discard, response.Body, maxAnswer)
	return refused(response.StatusCode)
}

// refused is why the collector took nothing.
func refused(status int) error {
	switch {
	case status/100 == 2:
		return nil
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests:
		return fault.New(fault.Temporary, "the collector answers %d", status)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fault.New(fault.Unauthorized, "the collector answers %d: check headers of traces in the server's file", status)
	}
	return fault.New(fault.Invalid, "the collector answers %d: check endpoint of traces in the server's file", status)
}

// Probe asks the collector whether it would take spans, and gives it none.
func Probe(ctx context.Context, o TraceOptions) error {
	return outbound.Redact(newCollector(ctx, o).post(ctx, nil))
}

// maxAnswer is what is read of an answer, in bytes, so that the connection can be used
// again.
const maxAnswer = 16 << 10

// tellEvery is how often it is logged that the collector takes nothing.
const tellEvery = 10 * time.Minute

func (c *collector) tell(ctx context.Context, spans int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	switch {
	case err == nil && c.lost > 0:
		c.Log.InfoContext(ctx, "traces are delivered again", slog.Int("lost", c.lost))
		c.lost, c.told = 0, time.Time{}
	case err == nil:
	default:
		c.lost += spans
		if c.told.IsZero() || now.Sub(c.told) >= tellEvery {
			c.told = now
			c.Log.WarnContext(ctx, "traces are not delivered", slog.Int("lost", c.lost), slog.Any("error", err))
		}
	}
}
