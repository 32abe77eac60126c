package webhook_test

import (
	"testing"

	"promoter/internal/fault"
	"promoter/internal/webhook"
)

// What was proven when it came is read without a proof.
func TestDecode_needsNoCredential(t *testing.T) {
	t.Parallel()
	body := webhook.Request{Body: []byte(`{"image": "quay.io/acme/web:1"}`)}
	got, err := webhook.Read("generic", body)
	if err != nil || len(got.Events) != 1 || got.Events[0].String() != "image quay.io/acme/web:1" || got.ID == "" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := webhook.Read("generic", webhook.Request{Body: []byte("{")}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("garbage: %v", err)
	}
	if _, err := webhook.Read("unheard of", body); fault.KindOf(err) != fault.Invalid {
		t.Errorf("no sender: %v", err)
	}
}
