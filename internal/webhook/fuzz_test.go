package webhook_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"unicode/utf8"

	"promoter/internal/fault"
	"promoter/internal/receiver"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

// Whatever a sender posts, its receiver does not fall over, and what it hints at is
// bounded and can be looked for.
func FuzzReceive(f *testing.F) {
	kinds := receiver.Names()
	receivers := map[string]*webhook.Receiver{}
	for _, kind := range kinds {
		made, err := webhook.New(webhook.Options{Name: "hook", Kind: kind, Credential: credential.Options{Anonymous: true}})
		if err != nil {
			f.Fatal(err)
		}
		receivers[kind] = made
	}
	for _, p := range payloads(f) {
		f.Add(p.kind, happened(p.header), p.header.Get("Content-Type"), p.body)
	}
	f.Fuzz(func(t *testing.T, kind, event, content string, body []byte) {
		r, ok := receivers[kind]
		if !ok {
			r = receivers[kinds[len(body)%len(kinds)]]
		}
		header := http.Header{}
		for _, name := range []string{"Ce-Type", "Ce-Id", "X-Event-Key", "X-Gitea-Event", "X-Github-Event", "X-Gitlab-Event", "X-Gogs-Event"} {
			header.Set(name, event)
		}
		header.Set("Content-Type", content)
		d, err := r.Receive(context.Background(), webhook.Request{Header: header, Body: body})
		if err != nil {
			if fault.KindOf(err) != fault.Invalid || len(d.Events) > 0 {
				t.Errorf("%+v, %v", d, err)
			}
			return
		}
		wellFormed(t, d)
	})
}

func happened(header http.Header) string {
	for _, name := range []string{"Ce-Type", "X-Event-Key", "X-Gitea-Event", "X-Github-Event", "X-Gitlab-Event", "X-Gogs-Event"} {
		if value := header.Get(name); value != "" {
			return value
		}
	}
	return ""
}

func wellFormed(t *testing.T, d webhook.Delivery) {
	t.Helper()
	if (len(d.Events) == 0) != (d.Ignored != "") || len(d.Events) > 1000 {
		t.Errorf("%d events, ignored for %q", len(d.Events), d.Ignored)
	}
	for _, text := range []string{d.ID, d.EventType} {
		if len(text) > 128 || !utf8.ValidString(text) {
			t.Errorf("kept %q", text)
		}
	}
	if d.ID == "" {
		t.Error("a delivery without an id")
	}
	seen := map[string]bool{}
	for _, hint := range d.Events {
		data, err := json.Marshal(hint)
		if err != nil || !hint.Valid() || seen[string(data)] {
			t.Errorf("a hint at %s: %v", data, err)
		}
		seen[string(data)] = true
	}
}
