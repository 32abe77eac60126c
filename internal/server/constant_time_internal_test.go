package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"promoter/internal/secret"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

// countingInbox counts accepted webhooks.
type countingInbox struct{ n int }

func (i *countingInbox) Accept(context.Context, Accepted) error {
	i.n++
	return nil
}

// An unknown name takes the path of a known one: with the secret of the unknown receiver,
// its webhook would be accepted. So no step is skipped that would take time.
func TestWebhook_unknownReceiverTakesTheSamePath(t *testing.T) {
	t.Parallel()
	box := &countingInbox{}
	s, err := New(Options{
		Inbox: box, Ready: func(context.Context) error { return nil }, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	const key, body = "the secret of the unknown receiver", `{"repository": {"id": 7, "full_name": "acme/gitops", "html_url": "https://github.com/acme/gitops"}}`
	one, err := webhook.New(webhook.Options{Kind: s.unknown.Receiver.Kind(), Credential: credential.Options{Secret: secret.New(key)}})
	if err != nil {
		t.Fatal(err)
	}
	post := func() int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/nobody", strings.NewReader(body))
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(body))
		r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
		r.Header.Set("X-GitHub-Event", "push")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	if status := post(); status != http.StatusUnauthorized || box.n != 0 {
		t.Errorf("before: %d, %d accepted", status, box.n)
	}
	s.unknown = s.limited(one)
	if status := post(); status != http.StatusAccepted || box.n != 1 {
		t.Errorf("with its secret known: %d, %d accepted", status, box.n)
	}
}

func TestUnknownReceiver_hasARandomSecret(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "github", "unknown"} {
		d, err := newUnknownReceiver()
		if err != nil {
			t.Fatal(err)
		}
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte("{}"))
		header := http.Header{"X-Github-Event": {"ping"}, "X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))}}
		if _, err := d.Receive(t.Context(), webhook.Request{Header: header, Body: []byte("{}")}); err == nil {
			t.Errorf("it is %q", key)
		}
	}
}
