package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/delivery"
	"promoter/internal/fault"
	"promoter/internal/secret"
	"promoter/internal/store"
)

// withMetrics returns an API that keeps what was asked of the metrics.
func withMetrics(query *delivery.Query) api.Options {
	options := withAPI(adminAPI{})
	options.Metrics = func(_ context.Context, q delivery.Query) (delivery.Report, error) {
		*query = q
		if q.Group == "wrong" {
			return delivery.Report{}, fault.New(fault.Invalid, "group must be environment")
		}
		return delivery.Report{Schema: delivery.Schema, Groups: []delivery.Group{{Name: "prod"}}}, nil
	}
	return options
}

func TestMetrics_parsesParameters(t *testing.T) {
	t.Parallel()
	var query delivery.Query
	w := newWorld(t, withMetrics(&query))
	answer := w.ask(t, "GET", "/api/v1/metrics?repository=acme%2Fgitops&environment=prod&application=shop&label=team%3Da&since=30d"+
		"&until=2026-11-01T00:00:00Z&by=month&group=application&timeZone=Europe%2FBerlin", "Bearer "+apiToken, "")
	want := delivery.Query{
		TargetFilter: store.TargetFilter{Repository: "acme/gitops", Environment: "prod", Application: "shop"}, Label: "team=a",
		Since: time.Date(2026, 10, 3, 10, 0, 0, 0, time.UTC), Until: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), By: delivery.Month,
		Group: "application", TimeZone: "Europe/Berlin",
	}
	if diff := cmp.Diff(want, query); diff != "" || answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"name":"prod"`) {
		t.Errorf("%d %s (-want +got):\n%s", answer.Code, answer.Body, diff)
	}
}

func TestMetrics_asCSV(t *testing.T) {
	t.Parallel()
	var query delivery.Query
	w := newWorld(t, withMetrics(&query))
	for path, accept := range map[string]string{"?format=csv": "", "": "text/csv; q=1", "?format=json": "text/csv"} {
		request := httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/metrics"+path, nil)
		request.Header.Set("Authorization", "Bearer "+apiToken)
		request.Header.Set("Accept", accept)
		answer := httptest.NewRecorder()
		w.ServeHTTP(answer, request)
		want := "text/csv; charset=utf-8 group,from,to,"
		if path == "?format=json" {
			want = `application/json {"schema":1`
		}
		if got := answer.Header().Get("Content-Type") + " " + answer.Body.String(); !strings.HasPrefix(got, want) || answer.Code != http.StatusOK {
			t.Errorf("%s accepting %q: %d %s", path, accept, answer.Code, got)
		}
	}
}

func TestMetrics_refuses(t *testing.T) {
	t.Parallel()
	var query delivery.Query
	w := newWorld(t, withMetrics(&query))
	for _, text := range []string{"since=yesterday", "until=x", "enviroment=prod", "by=week&by=month", "label=" + strings.Repeat("x", 600), "format=xml", "group=wrong", "a=%zz"} {
		if answer := w.ask(t, "GET", "/api/v1/metrics?"+text, "Bearer "+apiToken, ""); answer.Code != http.StatusBadRequest {
			t.Errorf("%.30s: %d %s", text, answer.Code, answer.Body)
		}
	}
	if answer := w.ask(t, "GET", "/api/v1/metrics", "", ""); answer.Code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", answer.Code)
	}
	w = newWorld(t, withAPI(adminAPI{}))
	if answer := w.ask(t, "GET", "/api/v1/metrics", "Bearer "+apiToken, ""); answer.Code != http.StatusNotFound {
		t.Errorf("without metrics: %d", answer.Code)
	}
}

// The metrics of a token are those of its scope.
func TestMetrics_ofAScope(t *testing.T) {
	t.Parallel()
	var query delivery.Query
	options := withMetrics(&query)
	options.Sessions.Tokens = access.Tokens{{Secret: secret.New(apiToken), Principal: access.Principal{
		Roles: []access.Role{access.Read}, Scope: access.Scope{Environments: []string{"dev"}},
	}}}
	newWorld(t, options).ask(t, "GET", "/api/v1/metrics", "Bearer "+apiToken, "")
	if may := query.Readable; may == nil || !may("github.com/acme/gitops", "dev", "shop") || may("github.com/acme/gitops", "prod", "shop") {
		t.Error("not restricted to dev")
	}
}
