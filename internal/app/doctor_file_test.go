package app_test

import (
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
