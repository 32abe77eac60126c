package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Notes are on standard error, and their control characters are escaped.
func TestTargetFlags_notes(t *testing.T) {
	t.Parallel()
	var messages bytes.Buffer
	system := System{Err: &messages}
	var flags targetFlags
	flags.options(system, newProgress(system)).Note("github: 3 without .promoter.yaml left out\x1b[2J")
	if got, want := messages.String(), "promoter: github: 3 without .promoter.yaml left out\\x1b[2J\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

// A URL is no repository of a server file, and a password in it is not printed.
func TestTargetFlags_passwordInAURL(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "promoter-server.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nforges: {github: {kind: github, token: \"env:TOKEN\"}}\nrepositories: [{forge: github, name: acme/gitops}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, repository := range []string{"https://ann:canary@example.com/acme/gitops", "https://example.com/acme/gitops?token=canary"} {
		c := newConsole()
		code := c.run(t.Context(), "run", "--config", file, "--repo", repository)
		if message := c.err.String(); code != exitFailed || !strings.Contains(message, "has no such repository; it has github:acme/gitops") || strings.Contains(message, "canary") {
			t.Errorf("--repo %s: exit %d, %q", repository, code, message)
		}
	}
}
