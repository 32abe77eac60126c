package webhook_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"github.com/expr-lang/expr"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// argoNotifications is the part of the shipped ConfigMap that Argo CD evaluates.
type argoNotifications struct {
	body     string
	triggers []argoTrigger
}

// argoTrigger is one condition.
// https://github.com/argoproj/notifications-engine/blob/v0.5.0/pkg/triggers/service.go
type argoTrigger struct {
	When    string   `yaml:"when"`
	OncePer string   `yaml:"oncePer"`
	Send    []string `yaml:"send"`
}

func shippedNotifications(t *testing.T) (n argoNotifications) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "argocd", "notifications.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var resource struct {
		Data map[string]string `yaml:"data"`
	}
	var content struct {
		Webhook map[string]struct {
			Method string `yaml:"method"`
			Body   string `yaml:"body"`
		} `yaml:"webhook"`
	}
	if err := yaml.Unmarshal(text, &resource); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(resource.Data["template.promoter"]), &content); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(resource.Data["trigger.promoter"]), &n.triggers); err != nil {
		t.Fatal(err)
	}
	if content.Webhook["promoter"].Method != http.MethodPost || len(n.triggers) == 0 {
		t.Fatalf("the template posts with %q, and has %d triggers", content.Webhook["promoter"].Method, len(n.triggers))
	}
	n.body = content.Webhook["promoter"].Body
	return n
}

// render renders the template as Argo CD does: text/template with the functions of sprig.
// https://github.com/argoproj/notifications-engine/blob/v0.5.0/pkg/templates/service.go
// https://github.com/argoproj/notifications-engine/blob/v0.5.0/pkg/services/webhook.go
func (n argoNotifications) render(t *testing.T, app map[string]any) []byte {
	t.Helper()
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["now"] = func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }
	parsed, err := template.New("promoter").Funcs(functions).Parse(n.body)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if err := parsed.Execute(&body, map[string]any{"app": app}); err != nil {
		t.Fatal(err)
	}
	return body.Bytes()
}

// applications returns the Applications of testdata/argocd by name, as Kubernetes has them.
func applications(t *testing.T) map[string]map[string]any {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "argocd", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Applications: %v", err)
	}
	all := map[string]map[string]any{}
	for _, file := range files {
		var app map[string]any
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &app)
		}
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = app
	}
	return all
}

// The payloads of Argo CD are what the shipped template renders.
func TestArgoCD_payloadsAreRenderedByTheShippedTemplate(t *testing.T) {
	t.Parallel()
	shipped := shippedNotifications(t)
	for name, app := range applications(t) {
		var rendered bytes.Buffer
		if err := json.Indent(&rendered, bytes.TrimSpace(shipped.render(t, app)), "", "  "); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rendered.WriteByte('\n')
		file := filepath.Join("..", "..", "testdata", "payloads", "argocd", name+".json")
		if *update {
			if err := os.WriteFile(file, rendered.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), rendered.String()); diff != "" {
			t.Errorf("%s (-payload +rendered):\n%s", name, diff)
		}
		if strings.Contains(rendered.String(), "canary") {
			t.Errorf("%s: parameters of the source are posted", name)
		}
	}
}

// Every state of an Application sends the template, and a state that changes sends it again.
func TestArgoCD_shippedTriggersSendEveryState(t *testing.T) {
	t.Parallel()
	shipped := shippedNotifications(t)
	sent := map[string][]string{} // conditions that are true, with the value of oncePer
	for name, app := range applications(t) {
		vars := map[string]any{"app": app}
		for _, trigger := range shipped.triggers {
			if !slices.Equal(trigger.Send, []string{"promoter"}) {
				t.Errorf("%s sends %v", trigger.When, trigger.Send)
			}
			if evaluate(t, trigger.When, vars) != true {
				continue
			}
			key := trigger.When
			if trigger.OncePer != "" {
				text, _ := json.Marshal(evaluate(t, trigger.OncePer, vars))
				key += " per " + string(text)
			}
			sent[name] = append(sent[name], key)
		}
	}
	for name := range applications(t) {
		if len(sent[name]) == 0 && name != "new" { // which has no status yet
			t.Errorf("nothing sends %s", name)
		}
	}
	// What Argo CD notifies about when an Application changes is what becomes true.
	for _, change := range [][2]string{
		{"healthy", "out-of-sync"},
		{"out-of-sync", "syncing"},
		{"syncing", "degraded"},
		{"syncing", "healthy"},
		{"healthy", "hook-failed"},
		{"sync-failed", "reverted-after-failure"},
		{"healthy", "comparison-error"},
		{"healthy", "missing"},
	} {
		added := slices.DeleteFunc(slices.Clone(sent[change[1]]), func(key string) bool { return slices.Contains(sent[change[0]], key) })
		if len(added) == 0 {
			t.Errorf("from %s to %s, nothing is sent", change[0], change[1])
		}
	}
}

// evaluate evaluates an expression as Argo CD does, with the release that it uses.
func evaluate(t *testing.T, expression string, vars map[string]any) any {
	t.Helper()
	program, err := expr.Compile(expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	value, err := expr.Run(program, vars)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}
