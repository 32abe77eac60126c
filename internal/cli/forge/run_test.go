package forge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
)

// A URL is no repository of a server file, and a password in it is not printed.
func TestRun_passwordInAURL(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "promoter-server.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nforges: {github: {kind: github, token: \"env:TOKEN\"}}\nrepositories: [{forge: github, name: acme/gitops}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, repository := range []string{"https://ann:canary@example.com/acme/gitops", "https://example.com/acme/gitops?token=canary"} {
		c := consoletest.New()
		code := c.Run(t.Context(), NewRun, "--config", file, "--repo", repository)
		if message := c.Err.String(); code != console.ExitFailed || !strings.Contains(message, "has no such repository; it has github:acme/gitops") || strings.Contains(message, "canary") {
			t.Errorf("--repo %s: exit %d, %q", repository, code, message)
		}
	}
}
