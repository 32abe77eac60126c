package notify_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/notify"
	"promoter/internal/secret"

	"github.com/google/go-cmp/cmp"
)

// key signs the requests of the tests.
const key = "0123456789abcdef0123456789abcdef"

func signedOptions(s *service) notify.SignedOptions {
	return notify.SignedOptions{
		Transport: s.transport(), URL: s.URL + "/hook", Secret: secret.New("whsec_" + base64.StdEncoding.EncodeToString([]byte(key))),
		Now: func() time.Time { return at },
	}
}

// verify verifies a request as the specification of Standard Webhooks has it.
func verify(t *testing.T, r received) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(r.header.Get("Webhook-Id") + "." + r.header.Get("Webhook-Timestamp") + "." + string(r.body)))
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	if got := r.header.Get("Webhook-Signature"); got != want || r.header.Get("Webhook-Timestamp") != "1772600767" {
		t.Errorf("signature %s at %s, want %s", got, r.header.Get("Webhook-Timestamp"), want)
	}
}

func TestWebhook_signsEachEvent(t *testing.T) {
	t.Parallel()
	s := newService(t, func(received) (int, string) { return 204, "" })
	sender, err := notify.NewWebhook(signedOptions(s))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time has the same ID
		if _, err := sender.Send(t.Context(), message(notify.Waiting), notify.Receipt{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.requests() {
		verify(t, r)
		var body struct {
			Type, Timestamp string
			Data            map[string]any
		}
		r.decode(t, &body)
		if r.header.Get("Webhook-Id") != "event-waiting" || body.Type != "promotion.waiting" || body.Timestamp != "2026-03-04T05:06:07Z" {
			t.Errorf("%s: %s", r.header.Get("Webhook-Id"), r.body)
		}
		want := map[string]any{
			"promotion": "promotion-1", "repository": "github.com/acme/gitops", "environment": "prod", "application": "shop", "snapshot": "abc123", "state": "waiting",
			"versions": []any{map[string]any{
				"component": "web", "repository": "quay.io/acme/web", "from": "1.4.1", "to": "1.4.2",
				"fromDigest": "sha256:" + strings.Repeat("a", 64), "toDigest": "sha256:" + strings.Repeat("b", 64),
			}},
			"reason": map[string]any{"rule": "soak", "message": attack}, "user": "@everyone",
			"pullRequest": map[string]any{"number": 12.0, "url": "https://github.com/acme/gitops/pull/12"}, "page": "https://promoter.example.com/applications/shop",
		}
		if diff := cmp.Diff(want, body.Data); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestWebhook_refusesWeakSecrets(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain-secret-that-is-long-enough", "whsec_c2hvcnQ=", "whsec_%%%"} {
		o := notify.SignedOptions{Secret: secret.New(text)}
		_, err := notify.NewWebhook(o)
		if fault.KindOf(err) != fault.Invalid || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Each state is an event of the specification, or one of promoter's own where it has none.
// https://github.com/cdevents/spec/tree/v0.5.1/schemas
func TestCloudEvents_areCDEvents(t *testing.T) {
	t.Parallel()
	to := "pkg:oci/web@sha256%3A" + strings.Repeat("b", 64) + "?repository_url=quay.io%2Facme%2Fweb&tag=1.4.2"
	from := "pkg:oci/web@sha256%3A" + strings.Repeat("a", 64) + "?repository_url=quay.io%2Facme%2Fweb&tag=1.4.1"
	environment := map[string]any{"id": "prod"}
	const pull = "https://github.com/acme/gitops/pull/12"
	for state, want := range map[notify.State]struct {
		kind, id, subject string
		content           map[string]any
	}{
		notify.Version: {"dev.cdeventsx.promoter-promotion.available.0.1.0", "event-version", pull, map[string]any{}},
		notify.Waiting: {"dev.cdeventsx.promoter-promotion.waiting.0.1.0", "event-waiting", pull, map[string]any{}},
		notify.Proposed: {"dev.cdevents.change.created.0.4.0", "event-proposed", pull, map[string]any{
			"description": "web 1.4.1 -> 1.4.2 is proposed for prod (shop)", "repository": map[string]any{"id": "github.com/acme/gitops"},
		}},
		notify.Landed:  {"dev.cdevents.change.merged.0.3.0", "event-landed", pull, map[string]any{"repository": map[string]any{"id": "github.com/acme/gitops"}}},
		notify.Healthy: {"dev.cdevents.service.upgraded.0.3.0", "event-healthy/web", "shop/web", map[string]any{"environment": environment, "artifactId": to}},
		notify.Failed: {"dev.cdevents.incident.detected.0.3.0", "event-failed/web", "shop/web", map[string]any{
			"environment": environment, "artifactId": to, "service": map[string]any{"id": "shop/web"}, "description": attack,
		}},
		notify.Reverted: {"dev.cdevents.service.rolledback.0.3.0", "event-reverted/web", "shop/web", map[string]any{"environment": environment, "artifactId": from}},
	} {
		s := newService(t, func(received) (int, string) { return 202, "" })
		sender, err := notify.NewCloudEvents(signedOptions(s), "https://promoter.example.com")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sender.Send(t.Context(), message(state), notify.Receipt{}); err != nil {
			t.Fatal(err)
		}
		r := s.requests()[0]
		verify(t, r)
		var body struct {
			Context map[string]any
			Subject map[string]any
			Custom  map[string]any `json:"customData"`
		}
		r.decode(t, &body)
		header := []string{"1.0", want.id, "https://promoter.example.com", want.kind, want.subject, "2026-03-04T05:06:07Z", "application/json"}
		var got []string
		for _, name := range []string{"Ce-Specversion", "Ce-Id", "Ce-Source", "Ce-Type", "Ce-Subject", "Ce-Time", "Content-Type"} {
			got = append(got, r.header.Get(name))
		}
		if diff := cmp.Diff(header, got); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", state, diff)
		}
		context := map[string]any{
			"specversion": "0.5.1", "id": want.id, "source": "https://promoter.example.com", "type": want.kind,
			"timestamp": "2026-03-04T05:06:07Z", "chainId": "promotion-1",
		}
		if diff := cmp.Diff(context, body.Context); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", state, diff)
		}
		if diff := cmp.Diff(map[string]any{"id": want.subject, "content": want.content}, body.Subject); diff != "" || body.Custom["state"] != string(state) {
			t.Errorf("%s: (-want +got):\n%s", state, diff)
		}
	}
}
