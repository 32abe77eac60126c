package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"promoter/internal/telemetry/telemetrytest"
)

// The collector is asked whether it accepts spans, and gets none.
func TestDoctor_traces(t *testing.T) {
	t.Parallel()
	collector := telemetrytest.New(t)
	s := newStory(t, "github", reviewed)
	file := s.serverFile("doctor.yaml", fmt.Sprintf(`forge: {kind: github, url: %q, insecure: true, token: "env:TOKEN"}`, s.forge.URL()), fmt.Sprintf(`data: %q
repositories: [{forge: forge, name: acme/gitops}]
traces: {endpoint: %q, insecure: true, headers: {Authorization: "env:OTLP"}}`, t.TempDir(), collector.URL()))
	env := environ("TOKEN", s.token, "OTLP", "Bearer canary")
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
			env = environ("TOKEN", s.token)
		}
		collector.Answer(max(test.status, http.StatusOK))
		found := checked(t, file, env, workday)
		if !strings.Contains(found, test.want) || strings.Contains(found, "canary") || strings.Count(found, " traces: ") != 1 {
			t.Errorf("with %d, %q is wanted in\n%s", test.status, test.want, found)
		}
	}
	if len(collector.Spans()) != 0 || collector.Headers()[0].Get("Authorization") != "Bearer canary" {
		t.Errorf("the collector got %v, %v", collector.Spans(), collector.Headers())
	}
}
