package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/delivery"
	"promoter/internal/queue"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// clock is a time that a test sets.
type clock struct{ at atomic.Int64 }

func (c *clock) Now() time.Time          { return time.Unix(0, c.at.Load()) }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

func noWork(context.Context) ([]queue.Stat, error) { return nil, nil }

// page is what /metrics says.
func page(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// one has each metric once.
func one() *telemetry.Metrics {
	m := telemetry.New(telemetry.Options{
		Now:  time.Now,
		Work: func(context.Context) ([]queue.Stat, error) { return []queue.Stat{{Kind: "repository"}}, nil },
		Backoffs: func() []telemetry.Backoff {
			return []telemetry.Backoff{{Peer: "registry", Host: "quay.io", Remaining: time.Minute}}
		},
		Targets: func(context.Context) ([]store.TargetRow, error) {
			return []store.TargetRow{{Environment: "dev", State: "same", Health: "Healthy"}}, nil
		},
		Deliveries: func(context.Context) ([]delivery.Recent, error) {
			once := delivery.Times{Count: 1}
			return []delivery.Recent{{
				Environment: "dev", Results: map[string]int{"deployed": 1}, LeadTimes: []time.Duration{time.Hour},
				Metrics: delivery.Metrics{
					LeadTime: once, TimeToRestore: once, EventToPullRequest: once, Gates: []delivery.Gate{{Name: "approvals", Times: once}},
				},
			}}, nil
		},
		Build: telemetry.Build{Version: "1.2.3", Commit: "c0ffee"},
	})
	m.Webhook("quay", 202, time.Second)
	m.Limited("connections")
	m.Streams(3)
	m.WebhookEvent("image", true)
	m.Reconciled("succeeded", time.Second)
	m.Action("opened")
	m.AfterLanding("argocd", true)
	m.EventToAction("opened", time.Second)
	m.Request("forge", "github.com", 200, time.Second)
	m.RateLimit("github.com", 4999)
	m.ImageMetadata(true)
	m.HealthReport("argo", "argocd")
	m.Unopened(1)
	return m
}

// The list in the documents is what is exported: names, types and labels.
func TestMetrics_areDocumented(t *testing.T) {
	t.Parallel()
	text := page(t, one())
	var exported []string
	for _, found := range regexp.MustCompile(`(?m)^# TYPE (promoter_\S+) (\S+)\n.*?(\{.*\})? \S+$`).FindAllStringSubmatch(text, -1) {
		var labels []string
		for _, label := range regexp.MustCompile(`([a-z]+)="`).FindAllStringSubmatch(found[3], -1) {
			if label[1] != "le" { // of the buckets of a histogram
				labels = append(labels, label[1])
			}
		}
		slices.Sort(labels)
		exported = append(exported, fmt.Sprintf("%s %s %s", found[1], found[2], strings.Join(labels, ",")))
	}
	slices.Sort(exported)
	documented, err := os.ReadFile("../../docs/operate/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(promoter_[a-z_]+)` \\| ([a-z]+) \\|([^|]*)\\|").FindAllStringSubmatch(string(documented), -1) {
		labels := regexp.MustCompile("[a-z]+").FindAllString(row[3], -1)
		slices.Sort(labels)
		listed = append(listed, fmt.Sprintf("%s %s %s", row[1], row[2], strings.Join(labels, ",")))
	}
	slices.Sort(listed)
	if diff := cmp.Diff(exported, listed); diff != "" {
		t.Errorf("docs/operate/metrics.md lists other metrics (-exported +listed):\n%s", diff)
	}
	// What nothing of this test fills is not exported, and would be missed above.
	if got := len(made(t)); got != len(exported) {
		t.Errorf("%d metrics are made and %d filled", got, len(exported))
	}
}

// made names all metrics that are made, filled or not.
func made(t *testing.T) []string {
	t.Helper()
	var all string
	for _, file := range []string{"metrics.go", "collectors.go", "targets.go", "delivery.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return regexp.MustCompile(`(?:counter|gauge|histograms?|desc)\("[a-z_]+"`).FindAllString(all, -1)
}

// Config files name hosts: those of the server file have labels, and so many more.
func TestHosts_areLimited(t *testing.T) {
	t.Parallel()
	m := telemetry.New(telemetry.Options{Hosts: []string{"GitHub.com"}, Work: noWork, Now: time.Now})
	for i := range 1000 {
		m.Request("registry", fmt.Sprintf("r%d.example.com", i), 200, 0)
	}
	m.Request("forge", "github.com", 0, 0)
	text := page(t, m)
	if n := strings.Count(text, "\npromoter_outbound_requests_total{"); n != 52 {
		t.Errorf("%d series of requests", n)
	}
	for _, want := range []string{
		`promoter_outbound_requests_total{host="github.com",peer="forge",status="none"} 1`,
		`promoter_outbound_requests_total{host="(other)",peer="registry",status="2xx"} 950`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
}

func TestWebhook_unknownReceiversShareALabel(t *testing.T) {
	t.Parallel()
	m := telemetry.New(telemetry.Options{Work: noWork, Now: time.Now})
	m.Webhook("", 401, time.Millisecond)
	m.Webhook("", 401, time.Millisecond)
	if text := page(t, m); !strings.Contains(text, `promoter_webhooks_total{receiver="(unknown)",status="4xx"} 2`) {
		t.Error(text)
	}
}

// Scrapes ask the database every few seconds at most, and when it does not answer
// the other metrics are there.
func TestWork_isCountedEveryFewSeconds(t *testing.T) {
	t.Parallel()
	var now clock
	now.advance(time.Hour)
	asked, broken := 0, false
	m := telemetry.New(telemetry.Options{Now: now.Now, Work: func(context.Context) ([]queue.Stat, error) {
		asked++
		if broken {
			return nil, errors.New("canary of a database")
		}
		return []queue.Stat{{Kind: "repository", Waiting: asked, Running: 2, Failing: 3, Oldest: 90 * time.Second}}, nil
	}})
	for _, want := range []string{
		`promoter_work_waiting{kind="repository"} 1`, `promoter_work_running{kind="repository"} 2`,
		`promoter_work_failing{kind="repository"} 3`, `promoter_work_oldest_trigger_seconds{kind="repository"} 90`,
	} {
		if text := page(t, m); !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	now.advance(5 * time.Second)
	if text := page(t, m); !strings.Contains(text, `promoter_work_waiting{kind="repository"} 2`) {
		t.Error("it is not asked again")
	}
	broken = true
	now.advance(5 * time.Second)
	m.Action("opened")
	text := page(t, m)
	if strings.Contains(text, "promoter_work") || strings.Contains(text, "canary") || !strings.Contains(text, `promoter_actions_total{action="opened"} 1`) {
		t.Errorf("with a broken database:\n%s", text)
	}
}

// Every client reads metrics. Profiles are off by default, and then for this machine.
func TestEndpoint_whoReadsWhat(t *testing.T) {
	t.Parallel()
	const local, localInIPv6, other = "127.0.0.1:1234", "[::ffff:127.0.0.1]:1234", "10.1.2.3:1234"
	profiles := []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline", "/debug/pprof/symbol"}
	for _, test := range []struct {
		profiles telemetry.Profiles
		client   string
		want     int
	}{
		{telemetry.NoProfiles, local, http.StatusNotFound},
		{telemetry.NoProfiles, other, http.StatusNotFound},
		{telemetry.LocalProfiles, local, http.StatusOK},
		{telemetry.LocalProfiles, localInIPv6, http.StatusOK},
		{telemetry.LocalProfiles, "[::1]:1234", http.StatusOK},
		{telemetry.LocalProfiles, other, http.StatusForbidden},
		{telemetry.LocalProfiles, "", http.StatusForbidden},
		{telemetry.OpenProfiles, other, http.StatusOK},
	} {
		metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics") })
		endpoint := telemetry.Endpoint(metrics, test.profiles)
		get := func(path string) int {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			request.RemoteAddr = test.client
			request.Header.Set("X-Forwarded-For", "127.0.0.1")
			answer := httptest.NewRecorder()
			endpoint.ServeHTTP(answer, request)
			return answer.Code
		}
		for _, path := range profiles {
			if got := get(path); got != test.want {
				t.Errorf("%+v: %s: %d", test, path, got)
			}
		}
		if metrics, root := get("/metrics"), get("/"); metrics != http.StatusOK || root != http.StatusNotFound {
			t.Errorf("%+v: /metrics: %d, /: %d", test, metrics, root)
		}
	}
}

// Of hosts that share a label, the longest backoff is reported.
func TestBackoffs_areReportedWhileActive(t *testing.T) {
	t.Parallel()
	var list []telemetry.Backoff
	m := telemetry.New(telemetry.Options{Work: noWork, Now: time.Now, Backoffs: func() []telemetry.Backoff { return list }})
	if text := page(t, m); strings.Contains(text, "promoter_host_backoff") {
		t.Error("there is a backoff without a host")
	}
	for i := range 60 {
		list = append(list, telemetry.Backoff{Peer: "registry", Host: fmt.Sprintf("r%d.example.com", i), Remaining: time.Duration(i) * time.Second})
	}
	text := page(t, m)
	for _, want := range []string{`{host="r7.example.com",peer="registry"} 7`, `{host="(other)",peer="registry"} 59`} {
		if !strings.Contains(text, "\npromoter_host_backoff_seconds"+want+"\n") {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}
