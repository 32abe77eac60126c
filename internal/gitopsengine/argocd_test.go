package gitopsengine_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/gitopsengine"
	"promoter/internal/secret"
)

// sent is a request as a server received it.
type sent struct {
	Method, Target, Authorization, Body string
}

// argoCD is an Argo CD server that answers each request in the same way.
func argoCD(t *testing.T, status int, answer string) (gitopsengine.ArgoCD, *[]sent) {
	t.Helper()
	var requests []sent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		requests = append(requests, sent{r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), string(body)})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return gitopsengine.ArgoCD{URL: server.URL + "/argo", Token: secret.New("argo-token"), HTTP: server.Client()}, &requests
}

// The requests are those of assets/swagger.json of Argo CD: ApplicationService_Get and
// ApplicationService_Sync.
func TestArgoCD_asksForARefreshOrASync(t *testing.T) {
	t.Parallel()
	api, requests := argoCD(t, http.StatusOK, `{"metadata": {"name": "web"}}`)
	for _, err := range []error{
		api.Refresh(t.Context(), "team-a/web"), api.Refresh(t.Context(), "we b"), api.Sync(t.Context(), "team-a/web"), api.Sync(t.Context(), "web"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	const token = "Bearer argo-token"
	want := []sent{
		{http.MethodGet, "/argo/api/v1/applications/web?appNamespace=team-a&refresh=normal", token, ""},
		{http.MethodGet, "/argo/api/v1/applications/we%20b?refresh=normal", token, ""},
		{http.MethodPost, "/argo/api/v1/applications/web/sync", token, `{"appNamespace":"team-a","name":"web"}`},
		{http.MethodPost, "/argo/api/v1/applications/web/sync", token, `{"name":"web"}`},
	}
	if diff := cmp.Diff(want, *requests); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The kind of an error decides about retries. The answers are those of gRPC's gateway.
func TestArgoCD_reportsWhyItRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		answer string
		kind   fault.Kind
		want   string
	}{
		{
			http.StatusForbidden, `{"error":"permission denied: applications, sync, shop/web","code":7,"message":"permission denied: applications, sync, shop/web"}`,
			fault.Unauthorized, "sync the Application web: Argo CD refuses the token: HTTP 403: permission denied: applications, sync, shop/web",
		},
		{http.StatusUnauthorized, "", fault.Unauthorized, "sync the Application web: Argo CD refuses the token: HTTP 401"},
		{
			http.StatusBadRequest, `{"error":"x","code":9,"message":"another operation is already in progress"}`,
			fault.Temporary, "sync the Application web: Argo CD answers with HTTP 400: another operation is already in progress",
		},
		{http.StatusNotFound, `{"code":5,"message":"applications.argoproj.io \"web\" not found"}`, fault.Invalid, `HTTP 404: applications.argoproj.io "web" not found`},
		{http.StatusNotFound, "<html>", fault.Invalid, "HTTP 404: url must be that of its API server"},
		{http.StatusBadGateway, "<html>", fault.Temporary, "Argo CD answers with HTTP 502"},
	} {
		api, _ := argoCD(t, c.status, c.answer)
		if err := api.Sync(t.Context(), "web"); fault.KindOf(err) != c.kind || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("HTTP %d: %s: %v", c.status, fault.KindOf(err), err)
		}
	}
}
