package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"promoter/internal/server"
)

// broke panics for a webhook.
type broke struct{}

func (broke) Accept(context.Context, server.Accepted) error { panic("out of cheese: " + hookSecret) }

// A defect is one request's: it is answered so that the sender tries again, is in the log
// with its place, and shows nothing to the client.
func TestWebhook_panicFailsOnlyItsRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *server.Options) { o.Inbox = broke{} })
	got := w.answer(post("/webhooks/forge", push))
	if got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "cheese") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	for _, part := range []string{"level=ERROR", "out of cheese", "panic_test.go", "request=" + got.Header().Get("X-Request-Id"), "status=500"} {
		if !strings.Contains(w.log.String(), part) {
			t.Errorf("the log has no %q: %s", part, w.log)
		}
	}
	if len(w.seen) != 1 || w.seen[0].Status != http.StatusInternalServerError {
		t.Errorf("observed %+v", w.seen)
	}
}

// So is one of any other page.
func TestServer_panicFailsOnlyItsRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *server.Options) { o.Ready = func(context.Context) error { panic("out of cheese") } })
	got := w.answer(newRequest(http.MethodGet, "/readyz", nil))
	if got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "cheese") || !strings.Contains(w.log.String(), "panic_test.go") {
		t.Errorf("%d %s, log %s", got.Code, got.Body, w.log)
	}
}
