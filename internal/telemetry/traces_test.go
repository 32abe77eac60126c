package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/secret"
	"promoter/internal/telemetry"
	"promoter/internal/telemetry/telemetrytest"
)

// log is what was written, for many.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// traced makes traces for a collector.
func traced(t *testing.T, to string, change func(*telemetry.TraceOptions)) (*telemetry.Traces, *log) {
	t.Helper()
	written := &log{}
	options := telemetry.TraceOptions{
		Endpoint: to, HTTP: http.DefaultTransport, Ratio: 1, Service: "promoter", Version: "1.2.3", Instance: "pod-0",
		Headers: map[string]secret.String{"Authorization": secret.New("Bearer canary")},
		Log:     slog.New(slog.NewTextHandler(written, nil)),
		Now:     func() time.Time { return began },
	}
	if change != nil {
		change(&options)
	}
	traces, err := telemetry.NewTraces(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { traces.Close(context.Background()) }) //nolint:usetesting // that of the test is over
	return traces, written
}

const (
	before = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	aside  = "00-11112222333344445555666677778888-1234567890abcdef-01"
)

// A span of before is continued, another one is linked, and what belongs to it hangs
// below.
func TestTraces_exportSpans(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	traces, _ := traced(t, collector.URL()+"/", nil)
	ctx, look := traces.Begin(t.Context(), telemetry.RootSpan{Name: "look", At: began.Add(-time.Second), Parent: before, Links: []string{aside, "nonsense"}},
		slog.Int("attempt", 2), slog.Any("keys", []string{"a", "b"}), slog.Bool("yes", true), slog.Any("token", secret.New("canary")))
	inner, pass := telemetry.Begin(ctx, "pass")
	telemetry.Add(inner, telemetry.CompletedSpan{Name: "GET", Client: true, Began: began, Took: time.Second, Failed: "503"}, slog.String("host", "h"))
	telemetry.Set(inner, slog.String("text", strings.Repeat("x", 1000)))
	pass.End(errors.New("no answer of https://user:canary@example.com/x?token=canary"))
	look.End(nil)
	traces.Close(t.Context())

	const trace = "0af7651916cd43dd8448eb211c80319c"
	resource := map[string]string{"service.name": "promoter", "service.version": "1.2.3", "service.instance.id": "pod-0"}
	got := collector.Spans()
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	want := []telemetrytest.Span{
		{
			Name: "GET", Kind: "SPAN_KIND_CLIENT", Parent: got[1].ID, Attributes: map[string]string{"host": "h"},
			Failed: true, Message: "503", Began: began, Ended: began.Add(time.Second),
		},
		{
			Name: "pass", Kind: "SPAN_KIND_INTERNAL", Parent: got[2].ID, Attributes: map[string]string{"text": strings.Repeat("x", 400)},
			Failed: true, Message: "no answer of https://example.com/x", Began: began, Ended: began,
		},
		{
			Name: "look", Kind: "SPAN_KIND_INTERNAL", Parent: "b7ad6b7169203331",
			Links:      []telemetrytest.Link{{Trace: "11112222333344445555666677778888", ID: "1234567890abcdef"}},
			Attributes: map[string]string{"attempt": "2", "keys": "a,b", "yes": "true", "token": "***"},
			Began:      began.Add(-time.Second), Ended: began,
		},
	}
	for i := range want {
		want[i].Trace, want[i].ID, want[i].Resource = trace, got[i].ID, resource
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if header := collector.Headers()[0].Get("Authorization"); header != "Bearer canary" {
		t.Errorf("the header is %q", header)
	}
	for _, body := range collector.Bodies() {
		if bytes.Contains(body, []byte("canary")) {
			t.Errorf("a secret is in the spans: %q", body)
		}
	}
}

// A list is cut: a pull request may be about a thousand applications.
func TestTraces_limitLists(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	traces, _ := traced(t, collector.URL(), nil)
	_, look := traces.Begin(t.Context(), telemetry.RootSpan{Name: "look"}, slog.Any("applications", slices.Repeat([]string{"a"}, 1000)))
	look.End(nil)
	traces.Close(t.Context())
	if n := len(strings.Split(collector.Spans()[0].Attributes["applications"], ",")); n != 20 {
		t.Errorf("%d texts", n)
	}
}

// What is no UTF-8, which a sender may put into a header, takes no batch with it.
func TestTraces_replaceInvalidUTF8(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	traces, written := traced(t, collector.URL(), nil)
	ctx, look := traces.Begin(t.Context(), telemetry.RootSpan{Name: "lo\xffok"}, slog.String("delivery", "a\xff"), slog.Any("keys", []string{"b\xff"}))
	telemetry.Add(ctx, telemetry.CompletedSpan{Name: "GET \xff", Failed: "c\xff"})
	look.End(errors.New("d\xff"))
	traces.Close(t.Context())
	if got := collector.Spans(); len(got) != 2 || got[1].Attributes["delivery"] != "a\ufffd" || got[1].Attributes["keys"] != "b\ufffd" {
		t.Errorf("%+v\n%s", got, written)
	}
}

// What one process ends another one continues.
func TestTraces_continueATraceparent(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	traces, _ := traced(t, collector.URL(), nil)
	ctx, delivery := traces.Begin(t.Context(), telemetry.RootSpan{Name: "delivery", Server: true})
	parent := telemetry.Parent(ctx)
	if len(parent) != 55 || parent != delivery.Parent() {
		t.Errorf("the parent is %q", parent)
	}
	_, look := traces.Begin(t.Context(), telemetry.RootSpan{Name: "look", Parent: parent})
	look.End(nil)
	delivery.End(nil)
	traces.Close(t.Context())
	got := collector.Spans()
	if len(got) != 2 || got[0].Trace != got[1].Trace || got[0].Parent != got[1].ID || got[1].Parent != "" || got[1].Kind != "SPAN_KIND_SERVER" {
		t.Errorf("%+v", got)
	}
}

// Without traces, or where a trace is not kept, everything may be called, and nothing
// is made, sent or allocated.
func TestTraces_nilCreatesNoSpans(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	rare, _ := traced(t, collector.URL(), func(o *telemetry.TraceOptions) { o.Ratio = 1e-18 })
	for _, traces := range []*telemetry.Traces{nil, rare} {
		ctx, span := traces.Begin(t.Context(), telemetry.RootSpan{Name: "look"})
		if span != nil || ctx != t.Context() {
			t.Errorf("there is a span: %v", span)
		}
		inner, pass := telemetry.Begin(ctx, "pass", slog.Int("attempt", 1))
		telemetry.Add(inner, telemetry.CompletedSpan{Name: "GET"})
		telemetry.Set(inner, slog.Int("attempt", 1))
		pass.End(errors.New("no"))
		span.End(nil)
		if parent := telemetry.Parent(inner); parent != "" {
			t.Errorf("the parent is %q", parent)
		}
		traces.Close(t.Context())
	}
	if n := len(collector.Headers()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// A collector that is away costs a line of the log now and then, and nothing else.
func TestTraces_logAnUnreachableCollectorOnce(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	collector.Answer(http.StatusForbidden)
	now := clock{}
	now.advance(time.Hour)
	traces, written := traced(t, collector.URL(), func(o *telemetry.TraceOptions) { o.Now = now.Now })
	flood := func() {
		for range 5000 {
			_, span := traces.Begin(context.Background(), telemetry.RootSpan{Name: "look"}) //nolint:usetesting // cheaper
			span.End(nil)
		}
	}
	flood()
	traces.Close(t.Context())
	text := written.String()
	if n := strings.Count(text, "\n"); n != 1 || !strings.Contains(text, "traces not exported") || !strings.Contains(text, "403") {
		t.Errorf("the log:\n%s", text)
	}
	if strings.Contains(text, "canary") {
		t.Errorf("a secret is in the log:\n%s", text)
	}
	if n := len(collector.Headers()); n == 0 || n > 12 {
		t.Errorf("%d requests", n)
	}
}

// The line comes again after a while, and one when the collector takes traces again.
func TestTraces_logRecovery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := &answers{status: http.StatusServiceUnavailable}
		traces, written := traced(t, "https://collector.example.com", func(o *telemetry.TraceOptions) { o.HTTP, o.Now = answers, time.Now })
		send := func(wait time.Duration) {
			_, span := traces.Begin(t.Context(), telemetry.RootSpan{Name: "look"})
			span.End(nil)
			<-time.After(wait)
			synctest.Wait()
		}
		for range 3 {
			send(6 * time.Minute)
		}
		answers.status = http.StatusOK
		send(time.Minute)
		traces.Close(t.Context())
		var lines []string
		for line := range strings.Lines(written.String()) {
			_, line, _ = strings.Cut(line, "msg=")
			line, _, _ = strings.Cut(line, " error=")
			lines = append(lines, strings.TrimSpace(line))
		}
		want := []string{`"traces not exported" lost=1`, `"traces not exported" lost=3`, `"traces exported again" lost=3`}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// answers answers all requests with a status.
type answers struct{ status int }

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Body: http.NoBody, Header: http.Header{}}, nil
}

// A collector that does not respond blocks no caller, and delays Close only up
// to its limit.
func TestTraces_closeDoesNotWaitForAStuckCollector(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		traces, written := traced(t, "https://collector.example.com", func(o *telemetry.TraceOptions) { o.HTTP = stuck{} })
		_, span := traces.Begin(t.Context(), telemetry.RootSpan{Name: "look"})
		span.End(nil)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		traces.Close(ctx)
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("the end took %v", took)
		}
		synctest.Wait()
		if !strings.Contains(written.String(), "last traces not exported") {
			t.Errorf("the log:\n%s", written)
		}
	})
}

// stuck answers nothing.
type stuck struct{}

func (stuck) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestLogHandler_addsTheTrace(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	traces, _ := traced(t, collector.URL(), nil)
	written := &log{}
	logger := slog.New(telemetry.LogHandler(slog.NewTextHandler(written, nil))).With(slog.String("key", "k"))
	ctx, span := traces.Begin(t.Context(), telemetry.RootSpan{Name: "look", Parent: before})
	logger.InfoContext(ctx, "within")
	logger.InfoContext(t.Context(), "without")
	span.End(nil)
	traces.Close(t.Context())
	lines := strings.Split(written.String(), "\n")
	if want := "key=k trace_id=0af7651916cd43dd8448eb211c80319c span_id=" + collector.Spans()[0].ID; !strings.HasSuffix(lines[0], want) {
		t.Errorf("%s has no %s", lines[0], want)
	}
	if !strings.HasSuffix(lines[1], "msg=without key=k") {
		t.Error(lines[1])
	}
}

func BenchmarkBegin_none(b *testing.B) {
	b.ReportAllocs()
	ctx := context.Background()
	for b.Loop() {
		inner, span := telemetry.Begin(ctx, "pass", slog.Int("attempt", 1), slog.String("host", "h"))
		telemetry.Add(inner, telemetry.CompletedSpan{Name: "GET"})
		span.End(nil)
	}
}
