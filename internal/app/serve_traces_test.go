package app_test

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/telemetry/telemetrytest"
)

// hiddenHook is the secret of a path.
const hiddenHook = "canary-of-a-path-0123456789abcdef0123456789abcdef"

// tracedTo configures a collector, and a receiver with a secret in its path.
func tracedTo(t *testing.T, endpoint string, quiet time.Duration) serving {
	t.Helper()
	file := writeFile(t, filepath.Join(t.TempDir(), "secret"), hiddenHook)
	return serving{quiet: quiet, poll: "30d", receivers: fmt.Sprintf(`  hidden: {kind: quay, pathSecret: "file:%s"}
traces: {endpoint: %q, insecure: true, headers: {X-Key: "file:%s"}}`, file, endpoint, file)}
}

// forest is the spans of a collector.
type forest []telemetrytest.Span

// one finds the one span of a name.
func (all forest) one(t *testing.T, name string) telemetrytest.Span {
	t.Helper()
	found := all.named(name)
	if len(found) != 1 {
		t.Fatalf("%d spans %s, want one:\n%s", len(found), name, all)
	}
	return found[0]
}

func (all forest) named(name string) forest {
	return slices.DeleteFunc(slices.Clone(all), func(s telemetrytest.Span) bool { return s.Name != name })
}

// of are the spans of a trace.
func (all forest) of(trace string) forest {
	return slices.DeleteFunc(slices.Clone(all), func(s telemetrytest.Span) bool { return s.Trace != trace })
}

// path is the name of a span with those above it, from the root.
func (all forest) path(span telemetrytest.Span) string {
	for _, other := range all {
		if other.Trace == span.Trace && other.ID == span.Parent {
			return all.path(other) + " > " + span.Name
		}
	}
	return span.Name
}

// String lists the spans for the message of a failure.
func (all forest) String() string {
	var lines []string
	for _, span := range all {
		lines = append(lines, fmt.Sprintf("%s %s: %v, links %v", span.Trace[:8], all.path(span), span.Attributes, span.Links))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// has fails if a span lacks one of the attributes, NAME=VALUE.
func has(t *testing.T, span telemetrytest.Span, wants ...string) {
	t.Helper()
	for _, want := range wants {
		name, value, _ := strings.Cut(want, "=")
		if got, ok := span.Attributes["promoter."+name]; !ok || got != value {
			t.Errorf("%s: %s is %q, want %q", span.Name, name, got, value)
		}
	}
}

// Two webhooks lead to one reconciliation. It is in the trace of the first one, down to
// the pull request, and is linked to the other in both directions. It contains no
// secret.
func TestServe_traces(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	s := newStory(t, "github", reviewed)
	w := serveAs(t, s, tracedTo(t, collector.URL(), 10*time.Minute))
	s.release("web", "1.1.0")
	image := s.expand(`{"image": "$R/acme/web:1.1.0"}`)
	const foreign = "0af7651916cd43dd8448eb211c80319c"
	w.post("hidden/"+hiddenHook, s.expand(`{"docker_url": "$R/acme/web", "repository": "acme/web", "namespace": "acme", "name": "web", "updated_tags": ["1.1.0"]}`), "Traceparent", "00-"+foreign+"-b7ad6b7169203331-01")
	w.until("webhook received")
	w.post("images", image)
	w.post("images", image, "X-Signature", "sha256=00")
	w.post("canary-of-nobody", image)
	w.wait(11 * time.Minute)
	var line struct {
		Trace string `json:"trace_id"`
	}
	decoded(t, w.until("opened"), &line)
	w.until("reconciled")
	w.stop()

	all := forest(collector.Spans())
	deliveries := all.named("webhook")
	if len(deliveries) != 2 {
		t.Fatalf("%d deliveries:\n%s", len(deliveries), all)
	}
	first, second := deliveries[0], deliveries[1]
	if first.Attributes["promoter.receiver"] != "hidden" { // it ended last
		first, second = second, first
	}
	has(t, first, "receiver=hidden", "events=1")
	has(t, second, "receiver=images", "events=1")
	if diff := cmp.Diff([]telemetrytest.Link{{Trace: foreign, ID: "b7ad6b7169203331"}}, first.Links); diff != "" || first.Parent != "" {
		t.Errorf("the sender's trace is to be a link (-want +got):\n%s", diff)
	}
	checkReconciliation(t, all, first, second)
	if line.Trace != first.Trace {
		t.Errorf("the log names the trace %q, want %s", line.Trace, first.Trace)
	}
	checkRequests(t, all.of(first.Trace))
	for _, body := range collector.Bodies() {
		for _, secret := range []string{"canary", s.token, "Bearer"} {
			if bytes.Contains(body, []byte(secret)) {
				t.Errorf("the spans hold %q", secret)
			}
		}
	}
	if key := collector.Headers()[0].Get("X-Key"); key != hiddenHook {
		t.Errorf("the collector got the key %q", key)
	}
}

// checkReconciliation checks the reconciliation of both deliveries.
func checkReconciliation(t *testing.T, all forest, first, second telemetrytest.Span) {
	t.Helper()
	run := all.of(first.Trace).one(t, "reconcile")
	has(t, run, "repository=acme/gitops", "attempt=1", "deliveries=2", "result=succeeded")
	pointer := all.of(second.Trace).one(t, "reconcile")
	if diff := cmp.Diff([]telemetrytest.Link{{Trace: second.Trace, ID: second.ID}}, run.Links); diff != "" {
		t.Errorf("the reconciliation (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]telemetrytest.Link{{Trace: run.Trace, ID: run.ID}}, pointer.Links); diff != "" || pointer.Parent != second.ID {
		t.Errorf("the pointer (-want +got):\n%s", diff)
	}
	has(t, all.of(first.Trace).one(t, "store"), "keys="+run.Attributes["promoter.key"])
	opened := all.one(t, "opened")
	has(t, opened, "environment=staging", "applications=shop", "pull_request=1")
	if path := all.path(opened); path != "webhook > reconcile > attempt > propose > opened" {
		t.Errorf("the pull request is at %s", path)
	}
	pushed := all.one(t, "pushed")
	has(t, pushed, "environment=dev", "applications=shop")
	if path := all.path(pushed); path != "webhook > reconcile > attempt > push > pushed" || len(pushed.Attributes["promoter.commit"]) != 40 {
		t.Errorf("the commit is at %s: %v", path, pushed.Attributes)
	}
	for _, want := range []string{"attempt > observe", "attempt > plan", "observe > git list", "push > git push", "propose > git push"} {
		if !slices.ContainsFunc(all.of(first.Trace), func(s telemetrytest.Span) bool { return strings.HasSuffix(all.path(s), " > "+want) }) {
			t.Errorf("nothing is at %s:\n%s", want, all)
		}
	}
}

// checkRequests checks the requests of a reconciliation: the peer, the method, and the
// result, and nothing that a third party or a config file chose.
func checkRequests(t *testing.T, all forest) {
	t.Helper()
	kinds := map[string]int{}
	for _, span := range all {
		if span.Kind != "SPAN_KIND_CLIENT" {
			continue
		}
		kinds[span.Attributes["promoter.peer"]]++
		method, route := span.Attributes["http.request.method"], span.Attributes["url.template"]
		if span.Name != method+" "+route || span.Attributes["http.response.status_code"] == "0" ||
			!strings.HasPrefix(span.Attributes["server.address"], "127.0.0.1:") ||
			!regexp.MustCompile(`^(/([a-z0-9_.-]+|\*)?)+$`).MatchString(route) || strings.Contains(route, "acme") {
			t.Errorf("%s: %v", span.Name, span.Attributes)
		}
		if span.Parent == "" {
			t.Errorf("%s belongs to nothing", span.Name)
		}
	}
	if kinds["forge"] == 0 || kinds["registry"] == 0 || kinds["git"] == 0 || kinds["collector"] != 0 {
		t.Errorf("requests: %v", kinds)
	}
}

// A reconciliation long after its first trigger is a trace of its own, with a link.
func TestServe_tracesOfDays(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	s := newStory(t, "github", reviewed)
	w := serveAs(t, s, tracedTo(t, collector.URL(), 2*time.Hour))
	w.notify("web:1.0.0")
	w.until("webhook received")
	w.wait(121 * time.Minute)
	w.until("reconciled")
	w.stop()
	all := forest(collector.Spans())
	delivery := all.one(t, "webhook")
	runs := slices.DeleteFunc(all.named("reconcile"), func(s telemetrytest.Span) bool { return len(s.Links) == 0 })
	if len(runs) != 2 {
		t.Fatalf("%d reconciliations have links:\n%s", len(runs), all)
	}
	for _, run := range runs {
		if run.Trace == delivery.Trace && run.Parent != delivery.ID || run.Trace != delivery.Trace && run.Links[0].ID != delivery.ID {
			t.Errorf("the reconciliations:\n%s", runs)
		}
	}
	if runs[0].Trace == runs[1].Trace {
		t.Errorf("the reconciliation is in the trace of the delivery:\n%s", runs)
	}
}

// A collector that is down stops nothing.
func TestServe_tracesWithoutCollector(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	collector.Answer(http.StatusInternalServerError)
	s := newStory(t, "github", reviewed)
	w := serveAs(t, s, tracedTo(t, collector.URL(), -1))
	s.release("web", "1.1.0")
	w.notify("web:1.1.0")
	w.until("opened")
	w.ever("traces not exported") // by the timer of the exporter, which is another activity
	if page := w.metrics(); !regexp.MustCompile(`promoter_outbound_requests_total\{host="127.0.0.1:\d+",peer="collector",status="5xx"\} \d`).MatchString(page) {
		t.Errorf("the requests to the collector are not counted:\n%s", page)
	}
	w.stop()
}
