package client

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/api"
	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
	"promoter/internal/cli/render"
	"promoter/internal/view"
)

// What other people wrote obeys no terminal, columns stand below each other, and what is
// not known leaves no gap.
func TestHistoryText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 10, 14, 5, 0, time.FixedZone("CET", 3600))
	history := api.History{Events: []api.Event{
		{
			At: at, Repository: "github.com/acme/gitops", Environment: "prod", Application: "shop", Action: "merged",
			Versions: []api.Version{{Component: "web", Tag: "1.5.0", FromTag: "1.4.0"}, {Component: "worker", Digest: "sha256:0123456789abcdef"}},
			Commit:   "9f3c1a7be0121111", PullRequest: &view.PullRequest{Number: 42}, Reason: &view.Reason{Rule: "parent", Message: "staging has \x1b[31mit"},
		},
		{At: at, Repository: "git.example.com/o/r", Environment: "dev", Application: "_all", Action: "hold", By: "ada\x07", Versions: []api.Version{}},
	}}
	want := strings.Join([]string{
		"2026-03-02 09:14:05Z  github.com/acme/gitops  prod/shop  merged  web 1.4.0 -> 1.5.0, worker sha256:0123456789ab #42 9f3c1a7be012",
		`  staging has \x1b[31mit`,
		`2026-03-02 09:14:05Z  git.example.com/o/r     dev        hold    by ada\a`,
		"",
	}, "\n")
	if diff := cmp.Diff(want, historyText(history, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	history.Events = history.Events[:1]
	want = strings.Join([]string{
		"github.com/acme/gitops",
		"  2026-03-02 09:14:05Z  prod/shop  merged  web 1.4.0 -> 1.5.0, worker sha256:0123456789ab #42 9f3c1a7be012",
		`    staging has \x1b[31mit`,
		"",
	}, "\n")
	if diff := cmp.Diff(want, historyText(history, false)); diff != "" {
		t.Errorf("of one repository (-want +got):\n%s", diff)
	}
	if colored := historyText(history, true); !strings.Contains(colored, render.ColorGreen+"merged"+render.ColorReset+"  ") {
		t.Errorf("with colors:\n%s", colored)
	}
}

// That there are no events is a message for users, not data.
func TestHistory_nothing(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"schema": 1, "at": "2026-03-02T10:14:05Z", "events": []}`))
	}))
	t.Cleanup(service.Close)
	file := filepath.Join(t.TempDir(), "promoter-server.yaml")
	if err := os.WriteFile(file, []byte("version: 1\napi: {token: \"env:API\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for form, want := range map[string]string{"text": "promoter: no events match\n", "json": ""} {
		c := consoletest.New("API=" + strings.Repeat("canary-", 5))
		code := c.Run(t.Context(), NewHistory, "--config", file, "--url", service.URL, "-o", form)
		if code != console.ExitDone || c.Err.String() != want || strings.Contains(c.Out.String(), "promoter:") {
			t.Errorf("-o %s: exit %d, out %q, err %q", form, code, c.Out.String(), c.Err.String())
		}
	}
}
