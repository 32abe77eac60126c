package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/connect"
	"promoter/internal/doctor"
	"promoter/internal/telemetry/telemetrytest"
)

// The collector is asked whether it accepts spans, and gets none.
func TestDoctor_traces(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	file := filepath.Join(t.TempDir(), "doctor.yaml")
	s := newStory(t, "github", reviewed)
	text := fmt.Sprintf(`version: 1
data: %q
forges: {forge: {kind: github, url: %q, insecure: true, token: "env:TOKEN"}}
repositories: [{forge: forge, name: acme/gitops}]
traces: {endpoint: %q, insecure: true, headers: {Authorization: "env:OTLP"}}
networks: [127.0.0.0/8]
%s`, t.TempDir(), s.forge.URL(), collector.URL(), s.expand(insecureRegistry))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set := true
	for _, test := range []struct {
		status int
		want   string
	}{
		{http.StatusOK, "ok traces: the collector at " + strings.TrimPrefix(collector.URL(), "http://") + " takes them ()"},
		{http.StatusForbidden, "warn traces: the collector responds with 403: check traces.headers"},
		{http.StatusNotFound, "warn traces: the collector responds with 404: check traces.endpoint"},
		{http.StatusBadGateway, "warn traces: the collector responds with 502 (try again"},
		{0, "fail traces: "},
	} {
		if test.status == 0 {
			set = false
		}
		collector.Answer(max(test.status, http.StatusOK))
		env := func(name string) (string, bool) {
			if name == "TOKEN" {
				return s.token, true
			}
			return "Bearer canary", set && name == "OTLP"
		}
		findings, err := doctor.Check(t.Context(), connect.Options{Config: file, Env: env, Now: workday})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, f := range findings {
			lines = append(lines, fmt.Sprintf("%s %s: %s (%s)", f.Verdict, f.Subject, f.Message, f.Fix))
		}
		found := strings.Join(lines, "\n")
		if !strings.Contains(found, test.want) || strings.Contains(found, "canary") || strings.Count(found, " traces: ") != 1 {
			t.Errorf("with %d, %q is wanted in\n%s", test.status, test.want, found)
		}
	}
	if len(collector.Spans()) != 0 || collector.Headers()[0].Get("Authorization") != "Bearer canary" {
		t.Errorf("the collector got %v, %v", collector.Spans(), collector.Headers())
	}
}
