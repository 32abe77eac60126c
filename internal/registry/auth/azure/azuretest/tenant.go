// Package azuretest is an Azure tenant with one registry for tests: Entra ID, the token
// services of the registry, and the metadata services of machines. It is strict: a
// request that Azure would refuse is refused with its error codes, and a malformed one
// fails the test.
package azuretest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The identities of the tenant.
const (
	Tenant       = "11111111-2222-3333-4444-555555555555"
	Client       = "66666666-7777-8888-9999-000000000000"
	ClientSecret = "canary~client.secret"
	Assertion    = "canary.federated.assertion"
	Header       = "canary-identity-header"

	// Discovery is the path of the tenant's endpoints, below the tenant.
	Discovery = "/v2.0/.well-known/openid-configuration"

	audience = "https://containerregistry.azure.net"
	access   = "canary.entra.token"
)

// Registry is a tenant with a registry.
type Registry struct {
	t    testing.TB
	host string
	now  func() time.Time

	mutex  sync.Mutex
	logins int
	// Denied are the services that refuse: entra, exchange, managed.
	Denied map[string]bool
	// Life of a refresh token. Three hours.
	Life time.Duration
}

// New makes a tenant with the registry of a host.
func New(t testing.TB, host string, now func() time.Time) *Registry {
	t.Helper()
	return &Registry{t: t, host: host, now: now, Denied: map[string]bool{}, Life: 3 * time.Hour}
}

// Vendor are Entra ID and the registry, by host.
func (r *Registry) Vendor() map[string]http.Handler {
	entra := http.HandlerFunc(r.entra)
	return map[string]http.Handler{
		"login.microsoftonline.com": entra, "login.microsoftonline.us": entra, "login.partner.microsoftonline.cn": entra,
		r.host: r.Tokens(),
	}
}

// Tokens are the token services of the registry itself: /oauth2/exchange for logins, and
// /oauth2/token for the tokens to pull with.
func (r *Registry) Tokens() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth2/exchange", r.exchange)
	mux.HandleFunc("GET /oauth2/token", r.token)
	return mux
}

// Local are the services of the machine, by host.
func (r *Registry) Local() map[string]http.Handler {
	return map[string]http.Handler{
		"169.254.169.254": http.HandlerFunc(r.instance),
		"localhost:42356": http.HandlerFunc(r.appService),
	}
}

// Logins returns how many refresh tokens were issued.
func (r *Registry) Logins() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.logins
}

// Refresh is refresh token number n, from 1, with its expiry.
func Refresh(n int, ends time.Time) string {
	claims := fmt.Sprintf(`{"jti":"canary-%d","exp":%d,"grant_type":"refresh_token"}`, n, ends.Unix())
	return "eyJhbGciOiJSUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmF0dXJl"
}

func refuse(w http.ResponseWriter, status int, form string, args ...any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, form, args...)
}

// entra is the token service of the tenant.
func (r *Registry) entra(w http.ResponseWriter, req *http.Request) {
	if tenant, found := strings.CutSuffix(req.URL.Path, Discovery); found && req.Method == http.MethodGet {
		if tenant != "/"+Tenant {
			refuse(w, http.StatusBadRequest, `{"error":"invalid_tenant","error_description":"AADSTS90002: Tenant not found."}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"issuer":"https://%[1]s/%[2]s/v2.0","authorization_endpoint":"https://%[1]s/%[2]s/oauth2/v2.0/authorize","token_endpoint":"https://%[1]s/%[2]s/oauth2/v2.0/token"}`,
			req.Host, Tenant)
		return
	}
	form := r.form(req)
	if req.Method != http.MethodPost || form.Get("grant_type") != "client_credentials" || !slices.Contains(strings.Fields(form.Get("scope")), audience+"/.default") {
		r.t.Errorf("Entra ID got %s %s: %s", req.Method, req.URL.Path, form.Encode())
	}
	federated := form.Get("client_assertion") == Assertion && form.Get("client_assertion_type") == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	switch {
	case req.URL.Path != "/"+Tenant+"/oauth2/v2.0/token":
		refuse(w, http.StatusBadRequest, `{"error":"invalid_request","error_description":"AADSTS90002: Tenant not found."}`)
	case form.Get("client_id") != Client:
		refuse(w, http.StatusBadRequest, `{"error":"unauthorized_client","error_description":"AADSTS700016"}`)
	case form.Get("client_secret") != ClientSecret && !federated || r.Denied["entra"]:
		refuse(w, http.StatusUnauthorized, `{"error":"invalid_client","error_description":"AADSTS7000215: %s"}`, form.Get("client_secret"))
	default:
		_, _ = fmt.Fprintf(w, `{"token_type":"Bearer","expires_in":3599,"ext_expires_in":3599,"access_token":%q}`, access)
	}
}

// exchange issues a refresh token for a token of Entra ID.
func (r *Registry) exchange(w http.ResponseWriter, req *http.Request) {
	form := r.form(req)
	if form.Get("grant_type") != "access_token" || form.Get("service") != r.host {
		r.t.Errorf("the exchange got %s", form.Encode())
	}
	if form.Get("access_token") != access || r.Denied["exchange"] {
		refuse(w, http.StatusUnauthorized, `{"errors":[{"code":"UNAUTHORIZED","message":"retrieving permissions failed %s"}]}`, form.Get("access_token"))
		return
	}
	r.mutex.Lock()
	r.logins++
	n := r.logins
	r.mutex.Unlock()
	_, _ = fmt.Fprintf(w, `{"refresh_token":%q}`, Refresh(n, r.now().Add(r.Life)))
}

// token issues a pull token for a refresh token.
func (r *Registry) token(w http.ResponseWriter, req *http.Request) {
	username, password, _ := req.BasicAuth()
	good := username == "00000000-0000-0000-0000-000000000000" && strings.HasPrefix(password, "eyJ")
	if !good || !strings.HasPrefix(req.URL.Query().Get("scope"), "repository:") || req.URL.Query().Get("service") == "" {
		refuse(w, http.StatusUnauthorized, `{"errors":[{"code":"UNAUTHORIZED","message":%q}]}`, password)
		return
	}
	_, _ = fmt.Fprint(w, `{"access_token":"`+PullToken+`"}`)
}

// PullToken is what the registry accepts for a pull.
const PullToken = "canary.pull.token"

// instance is the metadata service of a virtual machine.
func (r *Registry) instance(w http.ResponseWriter, req *http.Request) {
	if req.Header.Get("Metadata") != "true" || req.URL.Path != "/metadata/identity/oauth2/token" || req.URL.Query().Get("api-version") != "2018-02-01" {
		refuse(w, http.StatusBadRequest, `{"error":"invalid_request"}`)
		return
	}
	r.manage(w, req.URL.Query())
}

// appService is the identity service of App Service and Container Apps.
func (r *Registry) appService(w http.ResponseWriter, req *http.Request) {
	if req.Header.Get("X-Identity-Header") != Header || req.URL.Path != "/msi/token" || req.URL.Query().Get("api-version") != "2019-08-01" {
		refuse(w, http.StatusForbidden, `{"statusCode":403,"message":"canary"}`)
		return
	}
	r.manage(w, req.URL.Query())
}

func (r *Registry) manage(w http.ResponseWriter, query url.Values) {
	client := query.Get("client_id")
	if query.Get("resource") != audience || client != "" && client != Client || r.Denied["managed"] {
		refuse(w, http.StatusBadRequest, `{"error":"invalid_request","error_description":"Identity not found"}`)
		return
	}
	_, _ = fmt.Fprintf(w, `{"access_token":%q,"expires_on":"%d","resource":%q,"token_type":"Bearer"}`, access, r.now().Add(time.Hour).Unix(), audience)
}

func (r *Registry) form(req *http.Request) url.Values {
	if err := req.ParseForm(); err != nil {
		r.t.Errorf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	return req.PostForm
}
