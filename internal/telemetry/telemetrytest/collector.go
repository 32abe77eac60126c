package telemetrytest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector receives traces.
type Collector struct {
	t      testing.TB
	server *httptest.Server

	mu      sync.Mutex
	status  int
	hold    chan struct{} // nil: respond at once
	headers []http.Header
	bodies  [][]byte
	spans   []Span
}

// New starts a collector on this machine, over plain HTTP, until the test ends.
func New(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{t: t, status: http.StatusOK}
	c.server = httptest.NewServer(c)
	t.Cleanup(func() {
		c.Release()
		c.server.Close()
	})
	return c
}

// URL returns the endpoint.
func (c *Collector) URL() string { return c.server.URL }

// Answer sets the status of all further responses. Spans are stored only with
// status 200.
func (c *Collector) Answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

// Hold blocks all requests until Release, the end of the test, or the client
// disconnects.
func (c *Collector) Hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold = make(chan struct{})
}

// Release answers the blocked requests.
func (c *Collector) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hold != nil {
		close(c.hold)
		c.hold = nil
	}
}

// Headers returns the headers of all requests.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.headers)
}

// Bodies returns the bodies of all requests, as sent.
func (c *Collector) Bodies() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.bodies)
}

// Spans returns all stored spans, in order.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// ServeHTTP implements http.Handler. A request that is not valid OTLP fails the
// test.
//
// https://opentelemetry.io/docs/specs/otlp/#otlphttp-request
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client disconnected
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.URL.RawQuery != "" {
		c.t.Errorf("the collector has no %s %s", r.Method, r.URL)
	}
	if kind := r.Header.Get("Content-Type"); kind != "application/x-protobuf" {
		c.t.Errorf("the collector reads no %q", kind)
	}
	var data tracepb.TracesData
	if err := proto.Unmarshal(body, &data); err != nil {
		c.t.Errorf("the collector got %v", err)
	}
	if unknown := data.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		c.t.Errorf("the collector got unknown fields: %x", unknown)
	}
	status, hold := c.take(r.Header, body, &data)
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
	w.WriteHeader(status)
}

func (c *Collector) take(header http.Header, body []byte, data *tracepb.TracesData) (int, chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers, c.bodies = append(c.headers, header.Clone()), append(c.bodies, body)
	if c.status == http.StatusOK {
		c.spans = append(c.spans, spansOf(data)...)
	}
	return c.status, c.hold
}
