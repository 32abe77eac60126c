package webhook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/webhook"
)

// The receivers of the guides about health exist, and what the guides configure posts to them.
func TestGuides_aboutHealthMatchTheirReceivers(t *testing.T) {
	t.Parallel()
	for guide, poster := range map[string]string{"argocd": filepath.Join("config", "argocd", "notifications.yaml"), "flux": ""} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", "health-"+guide+".md"))
		if err != nil {
			t.Fatal(err)
		}
		posted := string(text)
		if poster != "" {
			if !strings.Contains(posted, filepath.ToSlash(poster)) {
				t.Errorf("%s does not name %s", guide, poster)
			}
			other, err := os.ReadFile(filepath.Join("..", "..", poster))
			if err != nil {
				t.Fatal(err)
			}
			posted = string(other)
		}
		block := regexp.MustCompile("(?s)```yaml\n(# promoter-server.yaml\n.*?)```").FindStringSubmatch(string(text))
		if block == nil {
			t.Fatalf("%s has no server file", guide)
		}
		file, problems := serverconfig.Load("promoter-server.yaml", []byte(block[1]), os.LookupEnv)
		if len(problems) > 0 {
			t.Fatalf("%s: %v", guide, problems)
		}
		for _, receiver := range file.Receivers {
			if receiver.Kind != guide || !strings.Contains(posted, file.URL+"/webhooks/"+receiver.Name) {
				t.Errorf("%s: nothing posts to %s", guide, receiver.Name)
			}
			if _, err := webhook.Decode(receiver.Kind, webhook.Request{Body: []byte("{}")}); err == nil {
				t.Errorf("%s: an empty report is accepted", guide)
			}
		}
	}
}

// The Provider of the Flux guide signs as promoter verifies.
// https://fluxcd.io/flux/components/notification/providers/
func TestGuides_fluxProvider(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", "health-flux.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(apiVersion: notification.*?)```").FindStringSubmatch(string(text))
	if block == nil {
		t.Fatal("the guide has no Provider")
	}
	kinds := map[string]map[string]any{}
	for _, part := range strings.Split(block[1], "\n---\n") {
		var resource struct {
			Kind string         `yaml:"kind"`
			Spec map[string]any `yaml:"spec"`
		}
		if err := yaml.Unmarshal([]byte(part), &resource); err != nil {
			t.Fatal(err)
		}
		kinds[resource.Kind] = resource.Spec
	}
	if got := kinds["Provider"]["type"]; got != "generic-hmac" {
		t.Errorf("the type of the Provider is %v", got)
	}
	if sources, _ := kinds["Alert"]["eventSources"].([]any); len(sources) != 2 || kinds["Alert"]["eventSeverity"] != "info" {
		t.Errorf("the Alert has %v", kinds["Alert"])
	}
}
