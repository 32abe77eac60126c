package azure

import (
	"context"
	"net/url"
	"regexp"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// identity gets a token of Entra ID for whoever the process is. The order is that
// of Microsoft's own libraries; the first that is set up is the answer, also when
// it fails.
// https://learn.microsoft.com/azure/developer/go/sdk/authentication/credential-chains
func (s *Source) identity(ctx context.Context) (secret.String, error) {
	m := s.machine
	switch {
	case !s.settings.Secret.IsZero():
		return s.asClient(ctx, "client_secret", s.settings.Secret)
	case s.settings.Client == "" && m.Var("AZURE_CLIENT_SECRET") != "":
		return s.asClient(ctx, "client_secret", secret.New(m.Var("AZURE_CLIENT_SECRET")))
	case m.Var("AZURE_FEDERATED_TOKEN_FILE") != "":
		assertion, err := m.File(workload, m.Var("AZURE_FEDERATED_TOKEN_FILE"))
		if err != nil {
			return secret.String{}, err
		}
		return s.asClient(ctx, "client_assertion", assertion)
	case m.Var("IDENTITY_ENDPOINT") != "":
		return s.appService(ctx)
	default:
		return s.instance(ctx)
	}
}

const workload = "Azure workload identity"

// tenantText is an id or a domain of a tenant.
var tenantText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,127}$`)

// asClient asks as a client, with its secret or with an assertion of Kubernetes.
// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
func (s *Source) asClient(ctx context.Context, kind string, proof secret.String) (secret.String, error) {
	what, advice := "Azure client", "see whether the secret of client "+s.client()+" ended, and whether the tenant is right"
	values := url.Values{
		"grant_type": {"client_credentials"}, "scope": {audience + "/.default"},
		"client_id": {s.client()}, kind: {proof.Reveal()},
	}
	if kind == "client_assertion" {
		what, advice = workload, "let the federated credential of client "+s.client()+" name the issuer and the service account of this pod"
		values.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	}
	if s.client() == "" || !tenantText.MatchString(s.tenant()) {
		return secret.String{}, fault.New(fault.Invalid, "%s: name the tenant and the client, in the server's file or as AZURE_TENANT_ID and AZURE_CLIENT_ID", what)
	}
	answer, err := s.machine.Ask(ctx, auth.Form(what, advice, "https://"+s.login+"/"+s.tenant()+"/oauth2/v2.0/token", values))
	if err != nil {
		return secret.String{}, err
	}
	return readToken(what, answer)
}

func readToken(what string, answer auth.Answer) (secret.String, error) {
	var got struct {
		Access string `json:"access_token"`
	}
	if err := answer.Decode(what, &got); err != nil {
		return secret.String{}, err
	}
	if got.Access == "" {
		return secret.String{}, fault.New(fault.Temporary, "%s: the answer holds no token", what)
	}
	return secret.New(got.Access), nil
}
