package webhook_test

import (
	"net/http"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/webhook"
)

// A stored delivery is decoded without a credential.
func TestDecode_needsNoCredential(t *testing.T) {
	t.Parallel()
	body := webhook.Request{Body: []byte(`{"image": "quay.io/acme/web:1"}`)}
	got, err := webhook.Decode("generic", body)
	if err != nil || len(got.Events) != 1 || got.Events[0].String() != "image quay.io/acme/web:1" || got.ID == "" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := webhook.Decode("generic", webhook.Request{Body: []byte("{")}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("garbage: %v", err)
	}
	if _, err := webhook.Decode("unknown", body); fault.KindOf(err) != fault.Invalid {
		t.Errorf("no sender: %v", err)
	}
}

// An event of an organization's ruleset names no repository.
func TestDecode_organizationRulesetIsIgnored(t *testing.T) {
	t.Parallel()
	sent := func(body string) webhook.Request {
		return webhook.Request{Header: http.Header{"X-Github-Event": {"repository_ruleset"}}, Body: []byte(body)}
	}
	got, err := webhook.Decode("github", sent(`{"action":"edited","organization":{"login":"acme"}}`))
	if err != nil || len(got.Events) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = webhook.Decode("github", sent(`{"action":"edited","repository":{"id":1,"full_name":"acme/web","html_url":"https://github.com/acme/web"}}`))
	if err != nil || len(got.Events) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
