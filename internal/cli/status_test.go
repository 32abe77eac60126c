package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who asks at the wrong address is told what is wrong with it.
func TestStatus_wrongAddress(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "promoter-server.yaml")
	if err := os.WriteFile(file, []byte("version: 1\napi: {token: \"env:API\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain, secured := httptest.NewServer(http.NotFoundHandler()), httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	t.Cleanup(secured.Close)
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	t.Cleanup(refuses.Close)
	for url, want := range map[string]string{
		strings.Replace(plain.URL, "http:", "https:", 1):   "the service does not use TLS: on this machine write http:// in --url",
		strings.Replace(secured.URL, "https:", "http:", 1): "with 400 is no promoter, or it wants https:// in --url",
		plain.URL:   "has no API: write api.token into its file",
		secured.URL: "name its authority with --ca FILE",
		refuses.URL: "with 403 is no promoter",
	} {
		c := newConsole("API=" + strings.Repeat("canary-", 5))
		code := c.run(t.Context(), "status", "--config", file, "--url", url)
		if said := c.err.String(); code != exitFailed || !strings.Contains(said, want) || strings.Contains(said, "canary") {
			t.Errorf("--url %s: exit %d, %q, want %q", url, code, said, want)
		}
	}
}
