package azure

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// username is the one with which a refresh token is the password.
// https://learn.microsoft.com/azure/container-registry/container-registry-authentication#az-acr-login-with---expose-token
const username = "00000000-0000-0000-0000-000000000000"

// audience is what a token of Entra ID is for, in all clouds.
const audience = "https://containerregistry.azure.net"

// clouds are the hosts of registries with the host where their identities log in.
// https://learn.microsoft.com/entra/identity-platform/authentication-national-cloud
var clouds = []struct{ registry, login string }{
	{".azurecr.io", "login.microsoftonline.com"},
	{".azurecr.cn", "login.partner.microsoftonline.cn"},
	{".azurecr.us", "login.microsoftonline.us"},
}

// Settings are what the server's file says of an identity. All may be empty: the
// machine then says who it is.
type Settings struct {
	Tenant string
	Client string
	Secret secret.String
}

// Source logs in to one registry.
type Source struct {
	machine  auth.Machine
	registry string // its host
	login    string // where identities log in
	settings Settings
}

// Belongs says whether a host is a registry of Azure.
func Belongs(host string) bool { return loginHost(strings.ToLower(host)) != "" }

func loginHost(registry string) string {
	for _, c := range clouds {
		if name, found := strings.CutSuffix(registry, c.registry); found && name != "" {
			return c.login
		}
	}
	return ""
}

// New makes a Source for the registry of a host.
func New(machine auth.Machine, host string, settings Settings) (*Source, error) {
	host = strings.ToLower(host)
	if !Belongs(host) {
		return nil, fault.New(fault.Invalid, "provider azure: %s is no registry of Azure: those are NAME.azurecr.io, NAME.azurecr.cn and NAME.azurecr.us", host)
	}
	return &Source{machine: machine, registry: host, login: loginHost(host), settings: settings}, nil
}

// Login asks Entra ID for a token and exchanges it at the registry.
// https://github.com/Azure/acr/blob/main/docs/AAD-OAuth.md
func (s *Source) Login(ctx context.Context) (string, secret.String, time.Time, error) {
	got, err := s.identity(ctx)
	if err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	what := "login at " + s.registry
	values := url.Values{"grant_type": {"access_token"}, "service": {s.registry}, "access_token": {got.Reveal()}}
	if tenant := s.tenant(); tenant != "" {
		values.Set("tenant", tenant)
	}
	answer, err := s.machine.Ask(ctx, auth.Form(what, "give the identity the role AcrPull (or Container Registry Repository Reader) on the registry", "https://"+s.registry+"/oauth2/exchange", values))
	if err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	var exchanged struct {
		Refresh string `json:"refresh_token"`
	}
	if err := answer.Decode(what, &exchanged); err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	if exchanged.Refresh == "" {
		return "", secret.String{}, time.Time{}, fault.New(fault.Temporary, "%s: the answer holds no token", what)
	}
	return username, secret.New(exchanged.Refresh), s.ends(exchanged.Refresh), nil
}

// usual is how long a refresh token is taken for good that does not say when it
// ends. Azure gives three hours.
const usual = time.Hour

// ends reads when a token ends out of it. It is only used to ask in time: whether
// it is good is for the registry to say.
func (s *Source) ends(token string) time.Time {
	var claims struct {
		Expires int64 `json:"exp"`
	}
	parts := strings.Split(token, ".")
	if len(parts) == 3 {
		data, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err == nil && json.Unmarshal(data, &claims) == nil && claims.Expires > 0 {
			return time.Unix(claims.Expires, 0).UTC()
		}
	}
	return s.machine.Now().Add(usual)
}

func (s *Source) tenant() string { return first(s.settings.Tenant, s.machine.Var("AZURE_TENANT_ID")) }

func (s *Source) client() string { return first(s.settings.Client, s.machine.Var("AZURE_CLIENT_ID")) }

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
