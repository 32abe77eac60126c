package azure

import (
	"context"
	"net/url"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

const managed = "Azure managed identity"

// appService asks the service that App Service, Functions and Container Apps put
// beside a process.
// https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference
func (s *Source) appService(ctx context.Context) (secret.String, error) {
	header := s.machine.Var("IDENTITY_HEADER")
	if header == "" {
		return secret.String{}, fault.New(fault.Invalid, "%s: IDENTITY_ENDPOINT is set without IDENTITY_HEADER: only App Service, Functions and Container Apps are known", managed)
	}
	return s.manage(ctx, s.machine.Var("IDENTITY_ENDPOINT"), "2019-08-01", map[string]string{"X-Identity-Header": header})
}

// instance asks the metadata service of a virtual machine.
// https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token#get-a-token-using-http
func (s *Source) instance(ctx context.Context) (secret.String, error) {
	got, err := s.manage(ctx, "http://"+auth.Instance+"/metadata/identity/oauth2/token", "2018-02-01", map[string]string{"Metadata": "true"})
	if fault.KindOf(err) == fault.Temporary {
		err = fault.New(fault.Temporary, "Azure credentials: none are set up here (no client secret, no workload identity, no managed identity of a service), and the metadata service of a virtual machine did not answer: %w", err)
	}
	return got, err
}

// manage asks a service of the machine. With several identities, the client says
// which.
func (s *Source) manage(ctx context.Context, endpoint, version string, header map[string]string) (secret.String, error) {
	query := url.Values{"api-version": {version}, "resource": {audience}}
	if client := s.client(); client != "" {
		query.Set("client_id", client)
	}
	answer, err := s.machine.AskMachine(ctx, auth.Question{
		What: managed, URL: endpoint + "?" + query.Encode(), Header: header,
		Advice: "give the machine or the service a managed identity, and name its client where it has several",
	})
	if err != nil {
		return secret.String{}, err
	}
	return readToken(managed, answer)
}
