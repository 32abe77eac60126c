package gitopsengine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"promoter/internal/evidence"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/printable"
	"promoter/internal/secret"
)

// ArgoCD is the API of an Argo CD server.
// https://github.com/argoproj/argo-cd/blob/master/assets/swagger.json
type ArgoCD struct {
	URL   string // without a slash at the end
	Token secret.String
	HTTP  *http.Client // bounded in time
}

// fields are those of evidence.Application. The API knows no pages, but it returns only the
// fields that are named.
// https://github.com/argoproj/argo-cd/blob/master/server/application/forwarder_overwrite.go
var fields = []string{
	"metadata.name", "metadata.namespace", "spec.source.repoURL", "spec.sources", "spec.sourceHydrator.drySource.repoURL",
	"status.health", "status.sync.status", "status.sync.revision", "status.sync.revisions",
	"status.operationState.phase", "status.operationState.message", "status.operationState.syncResult.revision",
	"status.operationState.syncResult.revisions", "status.summary.images", "status.conditions",
}

// Limits of a response.
const (
	maxList         = 32 << 20 // bytes
	maxObject       = 8 << 20  // bytes of one Application
	maxApplications = 10_000
)

// Applications lists the Applications that the token may see: ApplicationService_List.
func (a ArgoCD) Applications(ctx context.Context) ([]evidence.Application, error) {
	query := url.Values{"fields": {"items." + strings.Join(fields, ",items.")}}
	var list struct {
		Items []evidence.Application `json:"items"`
	}
	if err := a.call(ctx, http.MethodGet, "/api/v1/applications?"+query.Encode(), nil, maxList, &list); err != nil {
		return nil, fmt.Errorf("list the Applications of Argo CD: %w", err)
	}
	if len(list.Items) > maxApplications {
		return nil, fault.New(fault.Invalid, "Argo CD lists more than %d Applications: use a token of a project", maxApplications)
	}
	return list.Items, nil
}

// Refresh lets Argo CD compare an Application, NAMESPACE/NAME or NAME, with Git again, and waits
// until it did: ApplicationService_Get. Argo CD asks for no permission but `get`.
func (a ArgoCD) Refresh(ctx context.Context, application string) error {
	namespace, name := splitApplication(application)
	query := url.Values{"refresh": {"normal"}}
	if namespace != "" {
		query.Set("appNamespace", namespace)
	}
	err := a.call(ctx, http.MethodGet, "/api/v1/applications/"+url.PathEscape(name)+"?"+query.Encode(), nil, maxObject, nil)
	if err != nil {
		return fmt.Errorf("refresh the Application %s: %w", application, err)
	}
	return nil
}

// Sync lets Argo CD begin to apply an Application as Git has it now, without deleting what Git
// does not have: ApplicationService_Sync.
func (a ArgoCD) Sync(ctx context.Context, application string) error {
	namespace, name := splitApplication(application)
	body := map[string]string{"name": name}
	if namespace != "" {
		body["appNamespace"] = namespace
	}
	err := a.call(ctx, http.MethodPost, "/api/v1/applications/"+url.PathEscape(name)+"/sync", body, maxObject, nil)
	if err != nil {
		return fmt.Errorf("sync the Application %s: %w", application, err)
	}
	return nil
}

// splitApplication returns the parts of a subject of a health report.
func splitApplication(subject string) (namespace, name string) {
	if before, after, found := strings.Cut(subject, "/"); found {
		return before, after
	}
	return "", subject
}

// call sends a request with a body of JSON; nil: without one. It decodes the response to into;
// nil: its content does not matter.
func (a ArgoCD) call(ctx context.Context, method, path string, body any, limit int64, into any) error {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fault.Wrap(fault.Internal, err)
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.URL+path, content)
	if err != nil {
		return fault.Wrap(fault.Invalid, err)
	}
	request.Header.Set("Authorization", "Bearer "+a.Token.Reveal())
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := a.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	if response.StatusCode != http.StatusOK {
		return refused(response)
	}
	if into == nil {
		return nil
	}
	data, err := outbound.ReadAll(response.Body, limit)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fault.New(fault.Invalid, "what answers is not the API of Argo CD: url must be that of its API server")
	}
	return nil
}

// maxRefusal limits what is read of a response that is an error, in bytes, and maxReason what is
// shown of it.
const (
	maxRefusal = 64 << 10
	maxReason  = 300
)

// failedPrecondition is the code of gRPC for what may be possible later, as a sync while another
// operation is in progress.
const failedPrecondition = 9

// refused returns the error of a response that is not a success.
// https://github.com/grpc-ecosystem/grpc-gateway/blob/v1.16.0/runtime/errors.go
func refused(response *http.Response) error {
	var reason struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	text := ""
	data, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	if err == nil && json.Unmarshal(data, &reason) == nil && reason.Message != "" {
		text = ": " + printable.ShortLine(reason.Message, maxReason)
	}
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.New(fault.Unauthorized, "Argo CD refuses the token: HTTP %d%s", status, text)
	case reason.Code == failedPrecondition || status >= http.StatusInternalServerError:
		return fault.New(fault.Temporary, "Argo CD answers with HTTP %d%s", status, text)
	default:
		return fault.New(fault.Invalid, "Argo CD answers with HTTP %d%s", status, cmp.Or(text, ": url must be that of its API server"))
	}
}
