package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"promoter/internal/access"
	"promoter/internal/api"
)

func (several) Reconcile(_ context.Context, _ access.Principal, repository string) (api.Reconciling, error) {
	return api.Reconciling{Schema: api.Schema, Repository: repository, Key: "github:1"}, nil
}

// A request for a reconciliation needs the role operate, or one that contains it, and names one repository.
func TestReconcile_needsTheRole(t *testing.T) {
	t.Parallel()
	for role, want := range map[access.Role]int{
		access.Read: http.StatusForbidden, access.Evidence: http.StatusForbidden, access.Operate: http.StatusOK, access.Admin: http.StatusOK,
	} {
		w := newWorld(t, api.Options{Admin: adminAPI{}, Sessions: operator(role), Reconciler: several{}})
		answer := w.ask(t, "POST", "/api/v1/repositories/github.com%2Facme%2Fshop/reconcile", "Bearer "+apiToken, "")
		if answer.Code != want {
			t.Errorf("%s: %d %s, want %d", role, answer.Code, answer.Body, want)
		}
		var reconciling api.Reconciling
		if want == http.StatusOK && (json.Unmarshal(answer.Body.Bytes(), &reconciling) != nil || reconciling.Repository != "github.com/acme/shop") {
			t.Errorf("%s: %s", role, answer.Body)
		}
	}
}
