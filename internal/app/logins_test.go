package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/registry/auth/aws/awstest"
	"promoter/internal/registry/auth/azure/azuretest"
	"promoter/internal/registry/auth/google/googletest"
)

// cloudy is a fleet whose images lie in the registry of a cloud. The registry is
// the one on loopback, behind the login that the cloud's has.
type cloudy struct {
	*fleet
	image string // host of the registry
}

// newCloudy makes one: login puts a way to log in before the registry, and returns
// the credentials for the server file.
func newCloudy(t *testing.T, image string, services map[string]http.Handler, login func(next http.Handler) http.Handler) *cloudy {
	t.Helper()
	c := &cloudy{fleet: newFleet(t), image: image}
	registry := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: c.host})
	online.host(t, image, login(registry))
	for name, handler := range services {
		if name != image {
			online.host(t, name, handler)
		}
	}
	files := webIn("push")
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, "$R", image)
	}
	c.repository("tenant-a/gitops", files)
	c.repository("tenant-b/gitops", files)
	return c
}

// check runs twice over two tenants, of which one may use the credentials.
func (c *cloudy) check(t *testing.T, credentials string, logins func() int) {
	t.Helper()
	server := c.open(`registries:
  - host: `+c.image+`
    credentials: `+credentials+`
    usableBy: ["`+c.github.Host()+`/tenant-a/*"]
`, "tenant-a/gitops", "tenant-b/gitops")
	results := c.run(server)
	if own := results["tenant-a/gitops"]; own.Failed() || len(acts(own)) != 1 {
		t.Errorf("who may use the login: %v, %+v, %+v", own.Err, own.Report.Errors, own.Report.Decisions)
	}
	c.run(server)
	if got := logins(); got != 1 {
		t.Errorf("asked for %d logins, want one for all requests of two runs", got)
	}
	other := results["tenant-b/gitops"]
	if !other.Failed() || len(acts(other)) > 0 {
		t.Errorf("who may not use the login: %+v", other)
	}
	c.noCanary(t, fmt.Sprintf("%+v", results))
}

// noCanary searches for secrets in the output and on disk.
func (c *cloudy) noCanary(t *testing.T, shown string) {
	t.Helper()
	if strings.Contains(shown, "canary") {
		t.Error("a result shows a secret")
	}
	err := filepath.Walk(filepath.Join(c.dir, "cache"), func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "canary") {
			t.Errorf("%s holds a secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRun_amazonRegistry(t *testing.T) {
	t.Parallel()
	const image = "123456789012.dkr.ecr.eu-north-1.amazonaws.com"
	account := awstest.New(t, time.Now)
	c := newCloudy(t, image, account.Vendor("eu-north-1"), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "AWS" || password != awstest.Password(1) {
				w.Header().Set("WWW-Authenticate", `Basic realm="https://`+image+`/",service="ecr.amazonaws.com"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	token := c.write("token", awstest.WebToken)
	maps.Copy(c.env, map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": awstest.Role, "AWS_REGION": "eu-north-1"})
	c.check(t, "{provider: aws}", account.Logins)
}

func TestRun_googleRegistry(t *testing.T) {
	t.Parallel()
	const image = "europe-north1-docker.pkg.dev"
	project := googletest.New(t, time.Now)
	c := newCloudy(t, image, project.Vendor(), func(next http.Handler) http.Handler {
		return bearer(image, "/v2/token", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "oauth2accesstoken" || password != googletest.Token(1) {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			_, _ = fmt.Fprintf(w, `{"token":%q}`, pulls)
		}), next)
	})
	c.env["GOOGLE_KEY"] = project.KeyFile()
	c.check(t, `{provider: google, key: "env:GOOGLE_KEY"}`, project.Tokens)
}

func TestRun_azureRegistry(t *testing.T) {
	t.Parallel()
	const image = "acme.azurecr.io"
	tenant := azuretest.New(t, image, time.Now)
	c := newCloudy(t, image, tenant.Vendor(), func(next http.Handler) http.Handler {
		return bearer(image, "/oauth2/token", tenant.Tokens(), next)
	})
	c.env["AZURE_SECRET"] = azuretest.ClientSecret
	c.check(t, `{provider: azure, tenant: "`+azuretest.Tenant+`", client: "`+azuretest.Client+`", secret: "env:AZURE_SECRET"}`, tenant.Logins)
}

// pulls is the token that Google's registry gives for a pull.
const pulls = "canary-pull"

// bearer is a registry that wants tokens of a service on its own host.
func bearer(host, service string, tokens, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		right := r.Header.Get("Authorization")
		switch {
		case strings.HasPrefix(r.URL.Path, "/oauth2/"), r.URL.Path == service:
			tokens.ServeHTTP(w, r)
		case right == "Bearer "+pulls || right == "Bearer "+azuretest.PullToken:
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="https://%s%s",service="%s"`, host, service, host))
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
}

func TestRun_loginFailureAffectsOnlyItsRegistry(t *testing.T) {
	t.Parallel()
	const image = "123456789012.dkr.ecr.eu-south-1.amazonaws.com"
	account := awstest.New(t, time.Now)
	account.Denied["ecr:GetAuthorizationToken"] = true
	services := account.Vendor("eu-south-1")
	for name := range services { // The test of a working login uses the names that have no region of ours.
		if strings.Contains(name, "ecr-public") {
			delete(services, name)
		}
	}
	c := newCloudy(t, image, services, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Basic realm="https://`+image+`/"`)
			w.WriteHeader(http.StatusUnauthorized)
		})
	})
	c.repository("tenant-a/other", webIn("push"))
	maps.Copy(c.env, map[string]string{"AWS_ACCESS_KEY_ID": awstest.UserID, "AWS_SECRET_ACCESS_KEY": awstest.UserSecret})
	results := c.run(c.open(`registries:
  - {host: "$R", insecure: true}
  - host: `+image+`
    credentials: {provider: aws}
    usableBy: ["`+c.github.Host()+`/tenant-a/*"]
`, "tenant-a/gitops", "tenant-a/other"))
	if failed := results["tenant-a/gitops"]; !failed.Failed() || !strings.Contains(fmt.Sprintf("%+v", failed), "allow ecr:GetAuthorizationToken") {
		t.Errorf("the registry of the provider: %+v", failed)
	}
	if other := results["tenant-a/other"]; other.Failed() || len(acts(other)) != 1 {
		t.Errorf("another registry: %+v", other)
	}
	c.noCanary(t, fmt.Sprintf("%+v", results))
}
