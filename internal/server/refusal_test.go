package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"promoter/internal/server"
)

// send posts what the request says and returns the status.
func (w *world) send(r *http.Request) int {
	answer := httptest.NewRecorder()
	w.ServeHTTP(answer, r)
	return answer.Code
}

// A webhook that is refused has a line, so that who sets one up sees it come.
func TestWebhook_logsRefusals(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 3<<20)
	for name, test := range map[string]struct {
		request *http.Request
		want    string
	}{
		"a wrong credential": {post("/webhooks/forge", push, "X-Hub-Signature-256", "sha256=00"), `receiver=forge request=`},
		"an unknown name":    {post("/webhooks/none", push), `receiver=(unknown) request=`},
		"garbage":            {post("/webhooks/forge", "garbage"), `status=400 error="the request of github cannot be read: its body is not JSON`},
		"a large body":       {post("/webhooks/forge", large), `status=413 error="the body is larger than 2 MiB"`},
		"a wrong path":       {post("/webhooks/hub/canary-of-a-path", "{}"), `receiver=hub`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.send(test.request)
			log := w.log.String()
			if !strings.Contains(log, `level=WARN msg="webhook refused"`) || !strings.Contains(log, test.want) || strings.Contains(log, "canary") {
				t.Errorf("no %q in\n%s", test.want, log)
			}
		})
	}
}

// A client that is refused all the time does not fill the log.
func TestWebhook_limitsTheRatesLogLinesOfRefusals(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	w := newWorld(t, func(o *server.Options) { o.Now = func() time.Time { return now } })
	lines := func() int { return strings.Count(w.log.String(), "webhook refused") }
	for range 150 {
		w.send(post("/webhooks/none", push))
	}
	if got := lines(); got != 20 {
		t.Errorf("%d lines for 150 at once", got)
	}
	now = now.Add(10 * time.Second)
	for range 3 {
		w.send(post("/webhooks/none", push))
	}
	if got := lines(); got != 21 {
		t.Errorf("%d lines ten seconds later", got)
	}
}

// A delivery that means no work has its line too.
func TestWebhook_logsIgnoredDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if status := w.send(post("/webhooks/forge", `{"zen": "keep it simple"}`, "X-GitHub-Event", "ping")); status != http.StatusAccepted {
		t.Fatal(status)
	}
	if want := `level=INFO msg="webhook received" receiver=forge delivery=d-1 event=ping events=0 ignored="a ping"`; !strings.Contains(w.log.String(), want) {
		t.Errorf("no %q in\n%s", want, w.log)
	}
}
