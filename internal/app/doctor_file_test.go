package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
)

// Doctor says of each receiver what serve says at its start, whatever proves it.
func TestDoctor_receivers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "promoter-server.yaml")
	text := `version: 1
url: https://promoter.example.com
data: ` + filepath.Join(dir, "data") + `
forges:
  github: {kind: github, app: {setup: "env:HOOK"}} # not made yet, so nothing is asked
receivers:
  gar: {kind: gar, audience: "https://promoter.example.com/webhooks/gar", email: push@acme.iam.gserviceaccount.com}
  quay: {kind: quay, pathSecret: "env:HOOK"}
  short: {kind: quay, pathSecret: "env:SHORT"}
  none: {kind: harbor, secret: "env:NONE"}
  open: {kind: zot, anonymous: true}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{"HOOK": strings.Repeat("canary-", 6), "SHORT": "canary"}
	env := func(name string) (string, bool) { value, ok := secrets[name]; return value, ok }
	findings, err := app.Doctor(t.Context(), app.ServerOptions{Config: file, Env: env, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, f := range findings {
		said[f.Subject] = string(f.Verdict) + " " + f.Says
	}
	for subject, want := range map[string]string{
		"receiver gar":   "ok has a credential",
		"receiver quay":  "ok has a credential",
		"receiver short": "fail its pathSecret has fewer than 32 characters",
		"receiver none":  "fail secret env:NONE: the environment variable is not set",
		"receiver open":  "warn takes webhooks of anybody",
	} {
		if !strings.HasPrefix(said[subject], want) {
			t.Errorf("%s: %q, want %q", subject, said[subject], want)
		}
	}
}
