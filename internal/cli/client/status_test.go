package client

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/api"
	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
	"promoter/internal/cli/render"
	"promoter/internal/config"
	"promoter/internal/drift"
	"promoter/internal/view"
)

// The error for a wrong address names what is wrong with it.
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
		c := consoletest.New("API=" + strings.Repeat("canary-", 5))
		code := c.Run(t.Context(), NewStatus, "--config", file, "--url", url)
		if message := c.Err.String(); code != console.ExitFailed || !strings.Contains(message, want) || strings.Contains(message, "canary") {
			t.Errorf("--url %s: exit %d, %q, want %q", url, code, message, want)
		}
	}
}

// The address of a service is public, in networks of the server file, or named with --network.
func TestStatus_privateNetwork(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "promoter-server.yaml")
	if err := os.WriteFile(file, []byte("version: 1\napi: {token: \"env:API\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	private := []string{"--url", "https://10.0.0.1"}
	for want, args := range map[string][]string{
		"10.0.0.1 (private) is not dialed": private,
		"or name it with --network":        private,
		`--network "10"`:                   append(slices.Clone(private), "--network", "10"),
		"write networks in " + file:        append(slices.Clone(private), "--network", "10.0.0.0/8", "--config", file),
	} {
		c := consoletest.New("PROMOTER_API_TOKEN="+strings.Repeat("canary-", 5), "API="+strings.Repeat("canary-", 5))
		code := c.Run(t.Context(), NewStatus, args...)
		if message := c.Err.String(); code != console.ExitFailed || !strings.Contains(message, want) {
			t.Errorf("%v: exit %d, %q, want %q", args, code, message, want)
		}
	}
}

// A backoff is shown with its credential.
func TestScheduleLines_backoffs(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 6, 1, 11, 30, 0, 0, time.UTC)
	got := scheduleLines(api.Status{Backoffs: []api.Backoff{
		{Peer: "registry", Host: "quay.io", Until: until, Reason: "rate limited"},
		{Peer: "forge", Host: "api.github.com", Credential: "the token of github", Until: until, Reason: "rate limited: wait"},
	}})
	want := []string{
		"waiting: quay.io (registry): no requests until 2026-06-01T11:30:00Z: rate limited",
		"waiting: api.github.com (forge): no requests with the token of github until 2026-06-01T11:30:00Z: rate limited: wait",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A secret that could not be replaced is shown with its use.
func TestScheduleLines_secrets(t *testing.T) {
	t.Parallel()
	got := scheduleLines(api.Status{Secrets: []api.Secret{
		{File: "/s/token", Reason: "empty"}, {File: "/s/api", Use: "api.token", Reason: "shorter than 32 characters"},
	}})
	want := []string{
		"secret not replaced: /s/token: the one before stays in use: empty",
		"secret not replaced: /s/api (api.token): the one before stays in use: shorter than 32 characters",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Drift is shown below its repository, a few lines of it.
func TestReport_drift(t *testing.T) {
	t.Parallel()
	one := drift.Drift{Kind: drift.Ahead, Environment: "prod", Application: "shop", File: "prod/app.yaml", Line: 3, Message: "web 1.5.0 is newer"}
	shared := drift.Drift{Kind: drift.Shared, File: "base/app.yaml", Line: 1, Message: "web 1.4.0 is outside"}
	text := report{Status: api.Status{Repositories: []api.Repository{
		{Name: "h/acme/gitops", State: api.StateIdle, Drift: []drift.Drift{one, one, one, one, shared, one, one}},
	}}}.text(false)
	line := "  prod/shop  drift  web 1.5.0 is newer (prod/app.yaml:3)\n"
	want := "h/acme/gitops  idle, never reconciled\n" + strings.Repeat(line, 4) + "  drift  web 1.4.0 is outside (base/app.yaml:1)\n  and 2 more\n"
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Receivers of reports about health are listed with what is missing.
func TestReport_receivers(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 11, 30, 0, 0, time.UTC)
	text := report{Status: api.Status{At: now, Receivers: []api.Receiver{
		{Receiver: "argo", Kind: "argocd", Repositories: []string{"h/acme/gitops"}, ReportedAt: now.Add(-time.Minute), Failing: "Argo CD refuses the token: HTTP 403"},
		{Receiver: "gone", Repositories: []string{"h/acme/gitops", "h/acme/two"}, SetUp: "add it to receivers"},
	}}}.text(false)
	want := "\nreceiver argo (argocd)  1 repository, last report 1m ago\n  Argo CD refuses the token: HTTP 403\n" +
		"receiver gone  2 repositories, no report\n  add it to receivers\n"
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// sample is the state of a service with one repository, some seconds after noon.
func sample(seconds int, targets ...view.TargetRow) report {
	at := time.Date(2026, 6, 1, 12, 0, seconds, 0, time.UTC)
	return report{
		Status: api.Status{Schema: 1, At: at, Repositories: []api.Repository{
			{Name: "h/acme/gitops", Key: "h/7", State: api.StateIdle, ReconciledAt: at.Add(-time.Second)},
		}},
		Applications: []view.ApplicationRow{{Repository: "h/acme/gitops", Key: "h/7", Application: "shop", Targets: targets}},
		Total:        1,
	}
}

func row(environment, version string, status view.Status) view.TargetRow {
	return view.TargetRow{Environment: environment, Version: version, Status: status, Landed: time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)}
}

// The table has a row for each environment of each application, and no empty column.
func TestReport_targets(t *testing.T) {
	t.Parallel()
	waiting := row("prod", "1.4.2", view.Waiting)
	waiting.Wanted, waiting.Health, waiting.PullRequest = "1.5.0", "Healthy", &view.PullRequest{Number: 27}
	waiting.Reason = &view.Reason{Message: "soak in dev\x1b[2J", Until: time.Date(2026, 6, 1, 15, 30, 4, 0, time.UTC)}
	same := row("dev", "1.5.0", view.UpToDate)
	same.Reason = &view.Reason{Message: "newer: shop 1.4.2 -> 1.5.0"}
	want := strings.Join([]string{
		"h/acme/gitops  idle, reconciled 1s ago",
		"  application  environment  version         age  status      health   pull request  changes in  reason",
		"  shop         dev          1.5.0           3h   up to date  -        -             -           -",
		`  shop         prod         1.4.2 -> 1.5.0  3h   waiting     Healthy  #27           3h30m       soak in dev\x1b[2J`,
		"",
	}, "\n")
	if diff := cmp.Diff(want, sample(4, same, waiting).text(false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text := sample(4, same).text(true); !strings.Contains(text, render.ColorGreen+"up to date"+render.ColorReset) {
		t.Errorf("no color in\n%s", text)
	}
	alone := sample(4, same)
	alone.Applications[0].Application = config.DefaultApplication
	if text := alone.text(false); strings.Contains(text, "application") {
		t.Errorf("the only application of a repository is named in\n%s", text)
	}
}

func TestStatusFlags_check(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--limit 0: write 1 to 1000":     {"--limit", "0"},
		"--status asleep: want failed, ": {"--status", "asleep"},
		"--output xml: want text or":     {"-o", "xml"},
		"--color red: want auto":         {"--color", "red"},
	} {
		c := consoletest.New()
		if code := c.Run(t.Context(), NewStatus, args...); code != console.ExitFailed || !strings.Contains(c.Err.String(), want) {
			t.Errorf("%q: exit %d, %q, want %q", args, code, c.Err.String(), want)
		}
	}
}

// Ages are as short as those of targets: nothing below an hour after a day.
func TestAgo_dropsWhatIsTooPrecise(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]string{
		-time.Second: "0s ago", 1400 * time.Millisecond: "1s ago", 5*time.Hour + 12*time.Minute + 3*time.Second: "5h12m ago",
		76*time.Hour + 5*time.Minute: "3d4h ago",
	} {
		now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
		if got := ago(now, now.Add(-age)); got != want {
			t.Errorf("%v: %q, want %q", age, got, want)
		}
	}
}
