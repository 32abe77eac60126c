package app_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm/github"
	"promoter/internal/secret"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

// unsubscribed are events that are decoded if a webhook of a user sends them, but to which no
// App subscribes, with the reason.
func unsubscribed() map[string]string {
	const permission = "it wants a permission that nothing else needs"
	return map[string]string{
		"installation": "GitHub tells every App", "installation_repositories": "GitHub tells every App", "installation_target": "GitHub tells every App",
		"package":           "Apps are offered registry_package alone",
		"deployment_status": permission, "merge_group": permission, "workflow_run": permission,
	}
}

// An App subscribes to exactly the events of GitHub that are decoded, with the
// exceptions above.
func TestEvents_areUnderstood(t *testing.T) {
	t.Parallel()
	var asked []string
	for _, event := range github.Events() {
		asked = append(asked, event.Name)
	}
	for _, name := range append(gogithub.MessageTypes(), "installation_target") {
		_, excused := unsubscribed()[name]
		switch understood := understands(t, name); {
		case understood && !excused && !slices.Contains(asked, name):
			t.Errorf("%s is understood, and no App subscribes to it", name)
		case !understood && (excused || slices.Contains(asked, name)):
			t.Errorf("%s is subscribed to or excused, and nobody understands it", name)
		}
	}
	for _, name := range asked {
		if !slices.Contains(gogithub.MessageTypes(), name) && !understands(t, name) {
			t.Errorf("%s is no event", name)
		}
	}
}

// understands reports whether the event can trigger work.
func understands(t *testing.T, name string) bool {
	t.Helper()
	const body = `{"action": "created", "repository": {"id": 1, "full_name": "acme/web", "html_url": "https://github.com/acme/web"},
		"issue": {"number": 1, "pull_request": {}}, "comment": {"id": 1},
		"package": {"name": "web"}, "registry_package": {"name": "web"}}`
	receiver, err := webhook.New(webhook.Options{Name: "github", Kind: "github", Credential: credential.Options{Secret: secret.New(serveSecret), Now: time.Now}})
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"X-Github-Event": {name}, "X-Hub-Signature-256": {signatureOf(body)}}
	delivery, err := receiver.Receive(t.Context(), webhook.Request{Header: header, Body: []byte(body)})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return !strings.Contains(delivery.Ignored, "the event does not matter") && !strings.Contains(delivery.Ignored, "a ping")
}
