// Package azure logs in to Azure Container Registry, in the public cloud and in those
// of China and of the US government.
//
// A login is a refresh token of the registry, valid for three hours, which the
// registry issues for a token of Microsoft Entra ID. The identity comes from the
// server file or from the machine: a client with its secret, a Kubernetes workload
// identity, a managed identity of App Service, Container Apps or a virtual machine.
//
// azidentity requests the tokens of clients and workload identities. Managed
// identities are our own: its ManagedIdentityCredential reads the environment of the
// process instead of the one that is passed in, keeps tokens in a global cache, and
// on Azure Arc reads a file that the endpoint names. DefaultAzureCredential is not
// used, because it runs the az and azd programs.
package azure

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/golang-jwt/jwt/v5"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// username is the one with which a refresh token is the password.
// https://learn.microsoft.com/azure/container-registry/container-registry-authentication#az-acr-login-with---expose-token
const username = "00000000-0000-0000-0000-000000000000"

// audience is what a token of Entra ID is for, in all clouds.
const audience = "https://containerregistry.azure.net"

// clouds are the domains of registries with the host of their Entra ID.
// https://learn.microsoft.com/entra/identity-platform/authentication-national-cloud
var clouds = []struct{ registry, login string }{
	{".azurecr.io", "login.microsoftonline.com"},
	{".azurecr.cn", "login.partner.microsoftonline.cn"},
	{".azurecr.us", "login.microsoftonline.us"},
}

// Settings are the identity in the server file. All may be empty: the machine's
// identity is used then.
type Settings struct {
	Tenant string
	Client string
	Secret secret.String
}

// Source logs in to one registry.
type Source struct {
	machine  auth.Machine
	registry string // host
	login    string // host of Entra ID
	settings Settings
}

// New makes a Source for the registry of a host.
func New(machine auth.Machine, host string, settings Settings) (*Source, error) {
	name := strings.ToLower(host)
	for _, c := range clouds {
		if found, ok := strings.CutSuffix(name, c.registry); ok && found != "" {
			return &Source{machine: machine, registry: name, login: c.login, settings: settings}, nil
		}
	}
	return nil, fault.New(fault.Invalid,
		"provider azure: %s is not a registry of Azure, which are NAME.azurecr.io, NAME.azurecr.cn and NAME.azurecr.us", host)
}

// Login requests a token of Entra ID and exchanges it at the registry.
// https://github.com/Azure/acr/blob/main/docs/AAD-OAuth.md
func (s *Source) Login(ctx context.Context) (string, secret.String, time.Time, error) {
	token, err := s.entraToken(ctx)
	if err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	form := url.Values{"grant_type": {"access_token"}, "service": {s.registry}, "access_token": {token.Reveal()}}
	if tenant := s.tenant(); tenant != "" {
		form.Set("tenant", tenant)
	}
	call := s.machine.Call(ctx, "login at "+s.registry,
		"give the identity the role AcrPull (or Container Registry Repository Reader) on the registry")
	response, err := call.PostForm("https://"+s.registry+"/oauth2/exchange", form)
	if err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	var exchanged struct {
		Refresh string `json:"refresh_token"`
	}
	if err := response.Decode(&exchanged); err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	if exchanged.Refresh == "" {
		return "", secret.String{}, time.Time{}, fault.New(fault.Temporary, "login at %s: the response has no token", s.registry)
	}
	return username, secret.New(exchanged.Refresh), s.expiry(exchanged.Refresh), nil
}

// assumedLife is how long a refresh token without an expiry is used. Azure's are valid
// for three hours.
const assumedLife = time.Hour

// expiry reads the expiry of a token, only to renew it in time: the registry decides
// whether it is valid.
func (s *Source) expiry(token string) time.Time {
	var claims jwt.RegisteredClaims
	_, _, err := jwt.NewParser().ParseUnverified(token, &claims)
	if err == nil && claims.ExpiresAt != nil && claims.ExpiresAt.Unix() > 0 {
		return claims.ExpiresAt.UTC()
	}
	return s.machine.Now().Add(assumedLife)
}

// entraToken requests a token for the configured or ambient identity, in the order of
// Microsoft's libraries. The first one that is configured is used, also if it fails.
// https://learn.microsoft.com/azure/developer/go/sdk/authentication/credential-chains
func (s *Source) entraToken(ctx context.Context) (secret.String, error) {
	m := s.machine
	switch {
	case !s.settings.Secret.IsZero():
		return s.clientSecret(ctx, s.settings.Secret)
	case s.settings.Client == "" && m.Var("AZURE_CLIENT_SECRET") != "":
		return s.clientSecret(ctx, secret.New(m.Var("AZURE_CLIENT_SECRET")))
	case m.Var("AZURE_FEDERATED_TOKEN_FILE") != "":
		return s.workloadIdentity(ctx, m.Var("AZURE_FEDERATED_TOKEN_FILE"))
	case m.Var("IDENTITY_ENDPOINT") != "":
		return s.appService(ctx)
	}
	return s.instance(ctx)
}

func (s *Source) clientSecret(ctx context.Context, value secret.String) (secret.String, error) {
	const name = "Azure client"
	if err := s.checkClient(name); err != nil {
		return secret.String{}, err
	}
	call := s.machine.Call(ctx, name, "check whether the secret of client "+s.client()+" expired, and whether the tenant is right")
	options := &azidentity.ClientSecretCredentialOptions{ClientOptions: s.clientOptions(call), DisableInstanceDiscovery: true}
	credential, err := azidentity.NewClientSecretCredential(s.tenant(), s.client(), value.Reveal(), options)
	if err != nil {
		return secret.String{}, call.Failure(err)
	}
	return getToken(ctx, call, credential)
}

// workloadIdentity uses a token of Kubernetes. azidentity's WorkloadIdentityCredential
// would open the file itself.
func (s *Source) workloadIdentity(ctx context.Context, file string) (secret.String, error) {
	const name = "Azure workload identity"
	if err := s.checkClient(name); err != nil {
		return secret.String{}, err
	}
	assertion, err := s.machine.File(name, file)
	if err != nil {
		return secret.String{}, err
	}
	call := s.machine.Call(ctx, name,
		"let the federated credential of client "+s.client()+" name the issuer and the service account of this pod")
	read := func(context.Context) (string, error) { return assertion.Reveal(), nil }
	options := &azidentity.ClientAssertionCredentialOptions{ClientOptions: s.clientOptions(call), DisableInstanceDiscovery: true}
	credential, err := azidentity.NewClientAssertionCredential(s.tenant(), s.client(), read, options)
	if err != nil {
		return secret.String{}, call.Failure(err)
	}
	return getToken(ctx, call, credential)
}

// validTenant is the ID or a domain of a tenant.
var validTenant = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)

const maxTenant = 128 // bytes

func (s *Source) checkClient(name string) error {
	if s.client() == "" || len(s.tenant()) > maxTenant || !validTenant.MatchString(s.tenant()) {
		return fault.New(fault.Invalid,
			"%s: set the tenant and the client, in the server file or as AZURE_TENANT_ID and AZURE_CLIENT_ID", name)
	}
	return nil
}

func (s *Source) clientOptions(call *auth.Call) azcore.ClientOptions {
	return azcore.ClientOptions{
		Cloud:     cloud.Configuration{ActiveDirectoryAuthorityHost: "https://" + s.login},
		Transport: call.Client(),
		Retry:     policy.RetryOptions{MaxRetries: -1}, // the guarded client retries
	}
}

func getToken(ctx context.Context, call *auth.Call, credential azcore.TokenCredential) (secret.String, error) {
	token, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{audience + "/.default"}})
	if err != nil {
		return secret.String{}, call.Failure(err)
	}
	return secret.New(token.Token), nil
}

const managed = "Azure managed identity"

// appService calls the identity service of App Service, Functions and Container Apps.
// https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference
func (s *Source) appService(ctx context.Context) (secret.String, error) {
	header := s.machine.Var("IDENTITY_HEADER")
	if header == "" {
		return secret.String{}, fault.New(fault.Invalid,
			"%s: IDENTITY_ENDPOINT is set without IDENTITY_HEADER: only App Service, Functions and Container Apps are supported", managed)
	}
	return s.managedToken(ctx, s.machine.Var("IDENTITY_ENDPOINT"), "2019-08-01", map[string]string{"X-Identity-Header": header})
}

// instance calls the metadata service of a virtual machine.
// https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token#get-a-token-using-http
func (s *Source) instance(ctx context.Context) (secret.String, error) {
	const endpoint = "http://" + auth.Instance + "/metadata/identity/oauth2/token"
	token, err := s.managedToken(ctx, endpoint, "2018-02-01", map[string]string{"Metadata": "true"})
	if fault.KindOf(err) == fault.Temporary {
		const none = "Azure credentials: none are set up here (no client secret, no workload identity, no managed identity of a service)"
		err = fault.New(fault.Temporary, none+", and the metadata service of a virtual machine did not answer: %w", err)
	}
	return token, err
}

// managedToken requests a token of a managed identity. If the machine has several, the
// client selects one.
func (s *Source) managedToken(ctx context.Context, endpoint, version string, header map[string]string) (secret.String, error) {
	query := url.Values{"api-version": {version}, "resource": {audience}}
	if client := s.client(); client != "" {
		query.Set("client_id", client)
	}
	call := s.machine.LocalCall(ctx, managed, "give the machine or the service a managed identity, and set its client where it has several")
	response, err := call.Get(endpoint+"?"+query.Encode(), header)
	if err != nil {
		return secret.String{}, err
	}
	var token struct {
		Access string `json:"access_token"`
	}
	if err := response.Decode(&token); err != nil {
		return secret.String{}, err
	}
	if token.Access == "" {
		return secret.String{}, fault.New(fault.Temporary, "%s: the response has no token", managed)
	}
	return secret.New(token.Access), nil
}

func (s *Source) tenant() string { return cmp.Or(s.settings.Tenant, s.machine.Var("AZURE_TENANT_ID")) }

func (s *Source) client() string { return cmp.Or(s.settings.Client, s.machine.Var("AZURE_CLIENT_ID")) }
