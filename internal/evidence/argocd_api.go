package evidence

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// ArgoCDAPI is the API of an Argo CD server.
type ArgoCDAPI struct {
	URL   string // without a slash at the end
	Token secret.String
	HTTP  *http.Client // bounded in time
}

// argoFields are the fields of Application. The API knows no pages, but it returns only the
// fields that are named.
// https://github.com/argoproj/argo-cd/blob/master/server/application/forwarder_overwrite.go
var argoFields = []string{
	"metadata.name", "metadata.namespace", "spec.source.repoURL", "spec.sources", "spec.sourceHydrator.drySource.repoURL",
	"status.health", "status.sync.status", "status.sync.revision", "status.sync.revisions",
	"status.operationState.phase", "status.operationState.message", "status.operationState.syncResult.revision",
	"status.operationState.syncResult.revisions", "status.summary.images", "status.conditions",
}

// Limits of a response.
const (
	maxArgoResponse = 32 << 20 // bytes
	maxApplications = 10_000
)

// Applications lists the Applications that the token may see.
// https://github.com/argoproj/argo-cd/blob/master/assets/swagger.json: ApplicationService_List
func (a ArgoCDAPI) Applications(ctx context.Context) ([]Application, error) {
	query := url.Values{"fields": {"items." + strings.Join(argoFields, ",items.")}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+"/api/v1/applications?"+query.Encode(), nil)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err)
	}
	request.Header.Set("Authorization", "Bearer "+a.Token.Reveal())
	request.Header.Set("Accept", "application/json")
	response, err := a.HTTP.Do(request)
	if err != nil {
		return nil, fmt.Errorf("list the Applications of Argo CD: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return nil, fault.New(fault.Unauthorized, "Argo CD refuses the token: HTTP %d", status)
	case status != http.StatusOK && status < http.StatusInternalServerError:
		return nil, fault.New(fault.Invalid, "Argo CD answers with HTTP %d: url must be that of its API server", status)
	case status != http.StatusOK:
		return nil, fault.New(fault.Temporary, "Argo CD answers with HTTP %d", status)
	}
	data, err := outbound.ReadAll(response.Body, maxArgoResponse)
	if err != nil {
		return nil, fmt.Errorf("list the Applications of Argo CD: %w", err)
	}
	var list struct {
		Items []Application `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fault.New(fault.Invalid, "what answers is not the API of Argo CD: url must be that of its API server")
	}
	if len(list.Items) > maxApplications {
		return nil, fault.New(fault.Invalid, "Argo CD lists more than %d Applications: use a token of a project", maxApplications)
	}
	return list.Items, nil
}
