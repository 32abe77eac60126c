package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// doctor reports about each receiver what serve reports at its start.
func TestDoctor_receivers(t *testing.T) {
	t.Parallel()
	text := `version: 1
url: https://promoter.example.com
data: ` + filepath.Join(t.TempDir(), "data") + `
forges:
  github: {kind: github, app: {setup: "env:HOOK"}} # not made yet, so nothing is asked
receivers:
  gar: {kind: gar, audience: "https://promoter.example.com/webhooks/gar", email: push@acme.iam.gserviceaccount.com}
  quay: {kind: quay, pathSecret: "env:HOOK"}
  short: {kind: quay, pathSecret: "env:SHORT"}
  none: {kind: harbor, secret: "env:NONE"}
  open: {kind: zot, anonymous: true}
`
	found := doctored(t, text, "HOOK", strings.Repeat("canary-", 6), "SHORT", "canary")
	for subject, want := range map[string]string{
		"receiver gar":   "ok has a credential",
		"receiver quay":  "ok has a credential",
		"receiver short": "fail its pathSecret has fewer than 32 characters",
		"receiver none":  "fail secret env:NONE: the environment variable is not set",
		"receiver open":  "warn accepts webhooks from any sender",
	} {
		if !strings.HasPrefix(found[subject], want) {
			t.Errorf("%s: %q, want %q", subject, found[subject], want)
		}
	}
}

// The database is searched where the server file says, and its own file is checked too.
func TestDoctor_databaseFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "bad/promoter.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "good", "promoter.db"), "kept")
	for name, test := range map[string]struct{ data, path, subject, want string }{
		"beside the mirrors":   {"good", "", "database", "ok SQLite"},
		"somewhere else":       {"none", "good/promoter.db", "database", "ok SQLite"},
		"mirrors elsewhere":    {"none", "good/promoter.db", "data", "ok " + dir + "/none is not there yet"},
		"no file":              {"good", "bad/promoter.db", "database", "fail the file cannot be written"},
		"no folder":            {"good", "good/promoter.db/x.db", "database", "fail its folder cannot be written"},
		"mirrors in no folder": {"good/promoter.db", "good/promoter.db", "data", "fail its folder cannot be written"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "version: 1\nurl: https://promoter.example.com\ndata: " + filepath.Join(dir, test.data) +
				"\nforges: {github: {kind: github, app: {setup: \"env:HOOK\"}}}\n"
			if test.path != "" {
				text += "database: {path: " + filepath.Join(dir, test.path) + "}\n"
			}
			found := doctored(t, text, "HOOK", strings.Repeat("canary-", 6))
			if !strings.HasPrefix(found[test.subject], test.want) {
				t.Errorf("%s: %q, want %q", test.subject, found[test.subject], test.want)
			}
			if kept, err := os.ReadFile(filepath.Join(dir, "good", "promoter.db")); err != nil || string(kept) != "kept" {
				t.Errorf("the file was changed: %q, %v", kept, err)
			}
		})
	}
}

// doctored runs doctor with a server file, and returns its findings by subject.
func doctored(t *testing.T, text string, secrets ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(checked(t, writeFile(t, filepath.Join(t.TempDir(), "promoter-server.yaml"), text), environ(secrets...), time.Now)) {
		about, message, _ := strings.Cut(line, ": ")
		verdict, subject, _ := strings.Cut(about, " ")
		found[subject] = verdict + " " + message
	}
	return found
}

// Argo CD servers that are polled are asked as the service does.
func TestDoctor_argoCD(t *testing.T) {
	t.Parallel()
	argo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Authorization") {
		case "Bearer canary-full":
			_, _ = io.WriteString(w, `{"items": [{"metadata": {"name": "web"}}]}`)
		case "Bearer canary-empty":
			_, _ = io.WriteString(w, `{"items": null}`)
		default:
			http.Error(w, "canary", http.StatusForbidden)
		}
	}))
	t.Cleanup(argo.Close)
	text := fmt.Sprintf(`version: 1
url: https://promoter.example.com
data: %q
networks: [127.0.0.0/8]
forges: {github: {kind: github, app: {setup: "env:SETUP"}}}
receivers:
  full: {kind: argocd, poll: {url: "%[2]s", token: "env:FULL", insecure: true}}
  empty: {kind: argocd, poll: {url: "%[2]s", token: "env:EMPTY", insecure: true}}
  refused: {kind: argocd, poll: {url: "%[2]s", token: "env:REFUSED", insecure: true}}
`, t.TempDir(), argo.URL)
	found := doctored(t, text, "SETUP", strings.Repeat("canary-", 6), "FULL", "canary-full", "EMPTY", "canary-empty", "REFUSED", "canary-wrong")
	host := strings.TrimPrefix(argo.URL, "http://")
	for subject, want := range map[string]string{
		"receiver full":    "ok Argo CD at " + host + " lists 1 Application",
		"receiver empty":   "warn Argo CD at " + host + " lists no Applications",
		"receiver refused": "fail list the Applications of Argo CD: Argo CD refuses the token: HTTP 403",
	} {
		if !strings.HasPrefix(found[subject], want) {
			t.Errorf("%s: %q, want %q", subject, found[subject], want)
		}
	}
}
