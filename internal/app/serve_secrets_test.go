package app_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/secret/secrettest"
)

// The secrets of a running service are replaced with their files: the token of the API, that of
// the forge, and the secret of a receiver. One that cannot be used is in the status and the log.
func TestServe_followsTheFilesOfItsSecrets(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	const next = "another-token-of-the-api-0123456789abcdef"
	files := map[string]string{"api": serveToken, "forge": s.token, "hook": serveSecret}
	mount := secrettest.NewMount(t, files)
	w := serveFile(t, s, -1, s.serverFile("secrets.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "file:%s/forge"}`, s.forge.URL(), mount.Dir),
		fmt.Sprintf(`data: %q
poll: 1h
repositories: [{forge: forge, name: acme/gitops}]
api: {token: "file:%s/api"}
receivers:
  images: {kind: generic, secret: "file:%[2]s/hook", header: X-Signature}
`, filepath.Join(s.dir, "data"), mount.Dir)))
	status := func(token string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/api/v1/status", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	if code := status(serveToken); code != http.StatusOK {
		t.Fatalf("before: %d", code)
	}
	files["api"] = next
	mount.Swap(files)
	s.clock.ahead.Add(int64(2 * time.Second))
	if before, after := status(serveToken), status(next); before != http.StatusUnauthorized || after != http.StatusOK {
		t.Errorf("the token before: %d, after: %d", before, after)
	}
	files["api"] = "short"
	mount.Swap(files)
	s.clock.ahead.Add(int64(2 * time.Second))
	if code := status(next); code != http.StatusOK {
		t.Errorf("with a file that cannot be used: %d", code)
	}
	shown, err := w.client(next).Status(context.WithoutCancel(t.Context()))
	if err != nil || len(shown.Secrets) != 1 || shown.Secrets[0].Use != "api.token" || !strings.Contains(shown.Secrets[0].Reason, "shorter than 32") {
		t.Errorf("%+v, %v", shown.Secrets, err)
	}
	if line := w.all.first("secret not replaced: the one before stays in use", mount.Dir+"/api"); line == "" || strings.Contains(line, next) {
		t.Errorf("the log has %q", line)
	}
}
