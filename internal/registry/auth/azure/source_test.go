package azure_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/registry/auth/authtest"
	"promoter/internal/registry/auth/azure"
	"promoter/internal/registry/auth/azure/azuretest"
	"promoter/internal/secret"
)

const host = "acme.azurecr.io"

// scene is a machine and a tenant.
type scene struct {
	*authtest.World
	registry *azuretest.Registry
	host     string
	settings azure.Settings
}

func newScene(t *testing.T, host string) *scene {
	t.Helper()
	s := &scene{World: authtest.New(t), host: host}
	s.registry = azuretest.New(t, host, time.Now)
	s.Serve(s.registry.Vendor(), s.registry.Local())
	return s
}

func (s *scene) source(t *testing.T) *azure.Source {
	t.Helper()
	source, err := azure.New(s.Machine(), s.host, s.settings)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// full are the settings of a client with its secret.
func full() azure.Settings {
	return azure.Settings{Tenant: azuretest.Tenant, Client: azuretest.Client, Secret: secret.New(azuretest.ClientSecret)}
}

// pod is the environment of a pod with a workload identity.
func (s *scene) pod() {
	s.Env = map[string]string{
		"AZURE_TENANT_ID": azuretest.Tenant, "AZURE_CLIENT_ID": azuretest.Client, "AZURE_FEDERATED_TOKEN_FILE": "/token",
		"AZURE_AUTHORITY_HOST": "https://evil.test/",
	}
	s.Files["/token"] = azuretest.Assertion + "\n"
}

func TestLogin_everyIdentity(t *testing.T) {
	t.Parallel()
	const (
		entra     = "POST login.microsoftonline.com /" + azuretest.Tenant + "/oauth2/v2.0/token"
		discovery = "GET login.microsoftonline.com /" + azuretest.Tenant + azuretest.Discovery
		exchange  = "POST " + host + " /oauth2/exchange"
		imds      = "GET 169.254.169.254 /metadata/identity/oauth2/token"
		service   = "GET localhost:42356 /msi/token"
	)
	for _, tc := range []struct {
		name  string
		set   func(*scene)
		asked []string
	}{
		{"a client of the server file", func(s *scene) { s.settings = full() }, []string{discovery, entra, exchange}},
		{"a client of the server file before all else", func(s *scene) { s.pod(); s.settings = full() }, []string{discovery, entra, exchange}},
		{"a client of the environment", func(s *scene) {
			s.Env = map[string]string{"AZURE_TENANT_ID": azuretest.Tenant, "AZURE_CLIENT_ID": azuretest.Client, "AZURE_CLIENT_SECRET": azuretest.ClientSecret}
		}, []string{discovery, entra, exchange}},
		{"a workload identity", (*scene).pod, []string{discovery, entra, exchange}},
		{"a workload identity with a client of the file", func(s *scene) {
			s.pod()
			s.Env["AZURE_CLIENT_ID"] = "another"
			s.settings.Client = azuretest.Client
		}, []string{discovery, entra, exchange}},
		{"a managed identity of a virtual machine", func(*scene) {}, []string{imds, exchange}},
		{"one of several identities of a virtual machine", func(s *scene) { s.settings.Client = azuretest.Client }, []string{imds, exchange}},
		{"a managed identity of App Service", func(s *scene) {
			s.Env["IDENTITY_ENDPOINT"], s.Env["IDENTITY_HEADER"] = "http://localhost:42356/msi/token", azuretest.Header
		}, []string{service, exchange}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, host)
				tc.set(s)
				username, password, expires, err := s.source(t).Login(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				ends := time.Now().Add(3 * time.Hour)
				if username != "00000000-0000-0000-0000-000000000000" || password.Reveal() != azuretest.Refresh(1, ends) || !expires.Equal(ends) {
					t.Errorf("login %s %s until %s", username, password.Reveal(), expires)
				}
				if diff := cmp.Diff(tc.asked, s.Calls()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestLogin_everyCloud(t *testing.T) {
	t.Parallel()
	for host, login := range map[string]string{
		"acme.azurecr.io": "login.microsoftonline.com", "acme.azurecr.cn": "login.partner.microsoftonline.cn",
		"acme.azurecr.us": "login.microsoftonline.us", "acme.westeurope.geo.azurecr.io": "login.microsoftonline.com",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, host)
			s.settings = full()
			if _, _, _, err := s.source(t).Login(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := []string{"GET " + login + " /" + azuretest.Tenant + azuretest.Discovery, "POST " + login + " /" + azuretest.Tenant + "/oauth2/v2.0/token", "POST " + host + " /oauth2/exchange"}
			if diff := cmp.Diff(want, s.Calls()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLogin_refused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		set   func(*scene)
		kind  fault.Kind
		words string
	}{
		{"a wrong secret", func(s *scene) { s.settings = full(); s.settings.Secret = secret.New("canary-wrong") }, fault.Unauthorized, "Azure client: 401 invalid_client: check whether the secret of client 6666"},
		{"another tenant", func(s *scene) { s.settings = full(); s.settings.Tenant = "acme.example.com" }, fault.Unauthorized, "400 invalid_tenant"},
		{"an assertion that nobody knows", func(s *scene) { s.pod(); s.Files["/token"] = "canary-wrong" }, fault.Unauthorized, "Azure workload identity: 401 invalid_client: let the federated credential"},
		{"no file with the assertion", func(s *scene) { s.pod(); delete(s.Files, "/token") }, fault.Invalid, "open /token: file does not exist"},
		{"no tenant", func(s *scene) { s.settings = full(); s.settings.Tenant = "" }, fault.Invalid, "set the tenant and the client"},
		{"no client", func(s *scene) { s.pod(); delete(s.Env, "AZURE_CLIENT_ID") }, fault.Invalid, "set the tenant and the client"},
		{"a tenant that is a path", func(s *scene) { s.settings = full(); s.settings.Tenant = "a/../b" }, fault.Invalid, "set the tenant and the client"},
		{"no managed identity", func(s *scene) { s.registry.Denied["managed"] = true }, fault.Unauthorized, "Azure managed identity: 400 invalid_request: give the machine"},
		{"a service without its header", func(s *scene) { s.Env["IDENTITY_ENDPOINT"] = "http://localhost:42356/msi/token" }, fault.Invalid, "without IDENTITY_HEADER"},
		{"another header", func(s *scene) {
			s.Env["IDENTITY_ENDPOINT"], s.Env["IDENTITY_HEADER"] = "http://localhost:42356/msi/token", "canary"
		}, fault.Unauthorized, "403"},
		{"a service elsewhere", func(s *scene) {
			s.Env["IDENTITY_ENDPOINT"], s.Env["IDENTITY_HEADER"] = "http://10.0.0.1/msi/token", "canary"
		}, fault.Invalid, "is not a service of this machine"},
		{"a machine that is slow", func(s *scene) {
			s.Local["169.254.169.254"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGatewayTimeout) })
		}, fault.Temporary, "none are set up here"},
		{"no role at the registry", func(s *scene) { s.settings = full(); s.registry.Denied["exchange"] = true }, fault.Unauthorized, "login at acme.azurecr.io: 401 UNAUTHORIZED: give the identity the role AcrPull"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, host)
			tc.set(s)
			_, _, _, err := s.source(t).Login(t.Context())
			if fault.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("err = %v (%s), want %s: …%s…", err, fault.KindOf(err), tc.kind, tc.words)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error contains a secret: %v", err)
			}
		})
	}
}

func TestLogin_invalidResponses(t *testing.T) {
	t.Parallel()
	for _, service := range []string{"login.microsoftonline.com", host} {
		for body, kind := range map[string]fault.Kind{
			"":                                     fault.Temporary,
			"<html>":                               fault.Temporary,
			"{}":                                   fault.Temporary,
			`{"access_token":7,"refresh_token":7}`: fault.Temporary,
			`"` + strings.Repeat("a", 2<<20) + `"`: fault.Invalid,
		} {
			s := newScene(t, host)
			s.settings = full()
			s.Vendor[service] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, body) })
			if _, _, _, err := s.source(t).Login(t.Context()); fault.KindOf(err) != kind {
				t.Errorf("%s: %.20s: %v (%s)", service, body, err, fault.KindOf(err))
			}
		}
	}
}

func TestLogin_tokenWithoutExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, token := range []string{"opaque", "a.b.c", "a.e30.c", "a.eyJleHAiOi0xfQ.c"} {
			s := newScene(t, host)
			s.settings = full()
			s.Vendor[host] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, `{"refresh_token":%q}`, token) })
			_, password, expires, err := s.source(t).Login(t.Context())
			if err != nil || password.Reveal() != token || !expires.Equal(time.Now().Add(time.Hour)) {
				t.Errorf("%s: %s until %s, %v", token, password.Reveal(), expires, err)
			}
		}
	})
}

func TestNew_refusesOtherHosts(t *testing.T) {
	t.Parallel()
	for host, ok := range map[string]bool{
		"acme.azurecr.io": true, "ACME.azurecr.io": true, "acme.azurecr.us": true,
		"": false, ".azurecr.io": false, "azurecr.io": false, "acme.azurecr.io.evil.test": false, "acmeazurecr.io": false, "quay.io": false,
	} {
		if _, err := azure.New(authtest.New(t).Machine(), host, azure.Settings{}); (err == nil) != ok {
			t.Errorf("%q: %v", host, err)
		}
	}
}

func FuzzLogin(f *testing.F) {
	f.Add(`{"refresh_token":"a.eyJleHAiOjF9.c"}`)
	f.Add(`{"refresh_token":""}`)
	f.Fuzz(func(t *testing.T, body string) {
		s := withClient(t)
		s.Vendor[host] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, body) })
		_, password, expires, err := s.source(t).Login(t.Context())
		if err == nil && (password.IsZero() || password.Reveal() == "" || expires.IsZero()) {
			t.Errorf("%q gave an empty login", body)
		}
	})
}

func withClient(t *testing.T) *scene {
	t.Helper()
	s := newScene(t, host)
	s.settings = full()
	return s
}
