package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// get reads a page of the service.
func (w *served) get(path string) (status int, text string) {
	w.t.Helper()
	return w.fetch(w.url + path)
}

func (w *served) fetch(url string) (status int, text string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// page is get for a page that must be there.
func (w *served) page(path string) string {
	w.t.Helper()
	status, text := w.get(path)
	if status != http.StatusOK {
		w.t.Errorf("%s: %d", path, status)
	}
	return text
}

// metrics reads what Prometheus scrapes.
func (w *served) metrics() string {
	w.t.Helper()
	status, text := w.fetch("http://" + w.scraped + "/metrics")
	if status != http.StatusOK {
		w.t.Errorf("/metrics: %d", status)
	}
	return text
}

// An image is pushed, and the metrics count its webhook, the reconciliation, the
// actions, and the requests.
func TestServe_metrics(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serve(t, s)
	w.publish("web", "1.1.0")
	w.notify("unknown:1")
	w.post("images", "{}", "X-Signature", "sha256=00")
	w.post("canary", "{}")
	forge, err := url.Parse(s.forge.URL())
	if err != nil {
		t.Fatal(err)
	}
	text := w.metrics()
	for _, want := range []string{
		`promoter_webhooks_total\{receiver="images",status="2xx"\} 2`,
		`promoter_webhooks_total\{receiver="images",status="4xx"\} 1`,
		`promoter_webhooks_total\{receiver="\(unknown\)",status="4xx"\} 1`,
		`promoter_events_total\{kind="image",subscribed="true"\} 1`,
		`promoter_events_total\{kind="image",subscribed="false"\} 1`,
		`promoter_event_to_action_seconds_count\{action="opened"\} 1`,
		`promoter_actions_total\{action="opened"\} 1`,
		`promoter_actions_total\{action="pushed"\} 1`,
		`promoter_reconciliations_total\{result="succeeded"\} [2-9]`,
		`promoter_work_failing\{kind="repository"\} 0`,
		`promoter_outbound_requests_total\{host="` + regexp.QuoteMeta(forge.Host) + `",peer="forge",status="2xx"\} [1-9]\d*`,
		`promoter_outbound_requests_total\{host="` + regexp.QuoteMeta(s.expand("$R")) + `",peer="registry",status="2xx"\} [1-9]\d*`,
		`promoter_rate_limit_remaining\{host="` + regexp.QuoteMeta(forge.Host) + `"\} \d+`,
		`promoter_image_metadata_total\{source="registry"\} [1-9]\d*`,
		`promoter_targets\{environment="dev",state="same"\} 1`,
		`promoter_targets\{environment="staging",state="proposed"\} 1`,
		`promoter_oldest_open_pull_request_seconds\{environment="staging"\} \d+`,
		`promoter_oldest_waiting_seconds\{environment="dev"\} 0`,
		`promoter_promotions_total\{environment="dev",result="deployed"\} 1`,
		`promoter_delivery_deployments\{environment="dev"\} 1`,
		`promoter_delivery_event_to_pull_request_seconds\{environment="staging",quantile="0.5"\} [0-9.e+-]+`,
		`promoter_build_info\{commit="c0ffee",goversion="go[^"]+",version="1.2.3"\} 1`,
		`go_goroutines \d+`,
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(text) {
			t.Errorf("no %s", want)
		}
	}
	if status, page := w.get("/metrics"); status != http.StatusNotFound || strings.Contains(page, "promoter_") {
		t.Errorf("the address of webhooks and pages has metrics: %d\n%s", status, page)
	}
	for _, path := range []string{"/healthz", "/api/v1/status", "/webhooks/images", "/debug/pprof/"} {
		if status, _ := w.fetch("http://" + w.scraped + path); status != http.StatusNotFound {
			t.Errorf("the address of metrics has %s: %d", path, status)
		}
	}
	for _, name := range []string{"acme", "gitops", "canary"} {
		if strings.Contains(text, name) {
			t.Errorf("the metrics name %s", name)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	w.stop()
}

// The keys in the line of a webhook lead to the lines of its reconciliations. Without
// traces, no line names one.
func TestServe_logs(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serve(t, s)
	s.release("web", "1.1.0")
	w.post("images", s.expand(`{"id": "d-1", "image": "$R/acme/web:1.1.0"}`), "Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	var delivery struct {
		Receiver, Delivery, Event string
		Events                    int
		Keys                      []string
	}
	done := []string{"pushed", "opened", "reconciled"}
	lines := map[string]string{}
	for _, message := range done {
		lines[message] = w.until(message)
	}
	received := w.ever("webhook received") // the reconciliation does not wait for that line
	decoded(t, received, &delivery)
	if delivery.Receiver != "images" || delivery.Delivery == "" || delivery.Events != 1 || len(delivery.Keys) != 1 {
		t.Errorf("the line of the delivery: %+v", delivery)
	}
	want := map[string]string{
		"pushed": `"environment":"dev","applications":["shop"],"commit":"`,
		"opened": `"environment":"staging","applications":["shop"],"pull_request":1,"commit":"`,
	}
	const versions = `"versions":["web 1.0.0 -> 1.1.0"],"reason":"`
	for _, message := range done {
		var line struct{ Repository, Key string }
		text := lines[message]
		if message != "reconciled" && !strings.Contains(text, versions) {
			t.Errorf("no %s in %s", versions, text)
		}
		if !strings.Contains(text, want[message]) || strings.Contains(received+text, "trace_id") {
			t.Errorf("no %s in %s, or a trace", want[message], text)
		}
		decoded(t, text, &line)
		if line.Repository != "acme/gitops" || len(delivery.Keys) == 0 || line.Key != delivery.Keys[0] {
			t.Errorf("%s: %+v", message, line)
		}
	}
	w.stop()
}

func decoded(t *testing.T, line string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), into); err != nil {
		t.Errorf("%v: %s", err, line)
	}
}
