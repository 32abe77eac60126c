package decide

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
	"promoter/internal/decision"
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
	}{"promote": {NewPromote, requiredEnvUsage}, "rollback": {NewRollback, requiredEnvUsage}, "hold": {NewHold, envUsage}, "freeze": {NewFreeze, envUsage}} {
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
