package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The service sends users to the provider that the server file names, and refuses responses
// that it did not ask for. Its client refuses what the server file does not allow.
func TestServe_signsInWithOpenIDConnect(t *testing.T) {
	t.Parallel()
	provider := httptest.NewUnstartedServer(nil)
	provider.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/openid-configuration" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		at := "http://" + provider.Listener.Addr().String()
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q}`, at, at+"/authorize", at+"/token", at+"/keys")
	})
	provider.Start()
	t.Cleanup(provider.Close)
	s := newStory(t, "github", reviewed)
	data := filepath.Join(s.dir, "data")
	w := serveFile(t, s, -1, s.serverFile("signin.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf(`data: %q
poll: 1h
url: https://promoter.example.com
repositories: [{forge: forge, name: acme/gitops}]
api:
  public: {repositories: ["*/acme/*"]}
  oidc: {issuer: %q, insecure: true, clientID: promoter, roles: [{claim: groups, values: [ops]}]}
`, data, provider.URL)))
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(path string) (response *http.Response, body string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if response, err = client.Do(request); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		content, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response, string(content)
	}
	response, _ := get("/sign-in/oidc")
	location, err := url.Parse(response.Header.Get("Location"))
	if err != nil || response.StatusCode != http.StatusSeeOther || !strings.HasPrefix(location.String(), provider.URL+"/authorize?") ||
		location.Query().Get("redirect_uri") != "https://promoter.example.com/sign-in/callback" || location.Query().Get("scope") != "openid profile email" {
		t.Errorf("%d %s %v", response.StatusCode, location, err)
	}
	if response, body := get("/sign-in/callback?code=x&state=" + location.Query().Get("state")); response.StatusCode != http.StatusForbidden || !strings.Contains(body, "not begun in this browser") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if response, body := get("/api/v1/applications"); response.StatusCode != http.StatusOK || !strings.Contains(body, "acme/gitops") {
		t.Errorf("public: %d %s", response.StatusCode, body)
	}
	if key, err := os.ReadFile(filepath.Join(data, "session.key")); err != nil || len(key) < 32 {
		t.Errorf("%d bytes, %v", len(key), err)
	}
}
