package decide

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
	"promoter/internal/cli/flag"
	"promoter/internal/decision"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/verb"
)

// Verbs that need an environment do not claim that all environments are the default.
func TestNewDecide_environmentInHelp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		command func(console.System) *cobra.Command
		want    string
	}{"promote": {NewPromote, requiredEnvUsage}, "rollback": {NewRollback, requiredEnvUsage}, "hold": {NewHold, flag.EnvUsage}, "freeze": {NewFreeze, flag.EnvUsage}} {
		c := consoletest.New()
		if code := c.Run(t.Context(), test.command, "--help"); code != console.ExitDone || !strings.Contains(c.Out.String(), strings.ReplaceAll(test.want, "`", "")) {
			t.Errorf("%s --help: exit %d, no %q in\n%s", name, code, test.want, c.Out.String())
		}
	}
}

func TestDecision_textAndJSON(t *testing.T) {
	t.Parallel()
	result := decision.Result{
		Repository: "acme/gitops", Subject: "Roll back shop in prod", By: identity.User{Host: "github.com", Login: "ann"},
		Targets: []promotion.Target{{Environment: "prod", Application: "shop"}, {Environment: "prod", Application: "_all"}, {Environment: "_all", Application: "_all"}},
		Images:  map[string]string{"worker": "quay.io/acme/worker:1", "web": "quay.io/acme/web:1@sha256:2"},
	}
	want := "acme/gitops  Roll back shop in prod\n  prod/shop\n  prod\n  everywhere\n" +
		"    web quay.io/acme/web:1@sha256:2\n    worker quay.io/acme/worker:1 (by name: its digest is unknown)\n"
	if diff := cmp.Diff(want, decisionText(decision.Answer(verb.Rollback, result))); diff != "" {
		t.Error(diff)
	}
	data, err := json.Marshal(decision.Answer(verb.Rollback, result))
	if err != nil || !strings.Contains(string(data), `"by":{"host":"github.com","login":"ann"}`) {
		t.Errorf("got %s, %v", data, err)
	}
}

func TestParseUntil(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-12-24":                "2026-12-24T00:00:00Z",
		"2026-12-24T18:00:00+01:00": "2026-12-24T17:00:00Z",
		"3d":                        "2026-11-24T13:00:00Z",
		"90m":                       "2026-11-21T14:30:00Z",
	} {
		if got, err := parseUntil(text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	if got, err := parseUntil("", now); got != nil || err != nil {
		t.Errorf("no end: %v, %v", got, err)
	}
	for _, text := range []string{"tomorrow", "2026-11-20", "-1h", "2026-13-01", " "} {
		if got, err := parseUntil(text, now); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
