package cli

import (
	"strings"
	"testing"
)

// A wrong verb is an error that says what to do, wherever it stands.
func TestOfVerbs_wrong(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"frobnicate":      "promoter: unknown command \"promoter frobnicate\": 'promoter --help' lists the commands\n",
		"hystory":         "promoter: unknown command \"promoter hystory\": did you mean history?\n",
		"app crate":       "promoter: unknown command \"promoter app crate\": did you mean create?\n",
		"app frobnicate":  "promoter: unknown command \"promoter app frobnicate\": 'promoter app --help' lists the commands\n",
		"completion bish": "promoter: unknown command \"promoter completion bish\": did you mean bash or fish or zsh?\n",
	} {
		c := newConsole()
		if code := c.run(t.Context(), strings.Fields(line)...); code != exitFailed || c.err.String() != want || c.out.Len() > 0 {
			t.Errorf("promoter %s: exit %d, out %q, err %q, want %q", line, code, c.out.String(), c.err.String(), want)
		}
	}
}

func TestOfVerbs_none(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "app", "completion"} {
		c := newConsole()
		if code := c.run(t.Context(), strings.Fields(line)...); code != exitDone || !strings.Contains(c.out.String(), "Available Commands:") || c.err.Len() > 0 {
			t.Errorf("promoter %s: exit %d, out %q, err %q", line, code, c.out.String(), c.err.String())
		}
	}
}

// Verbs that need an environment do not say that all of them are meant without one.
func TestNewOrder_environmentInHelp(t *testing.T) {
	t.Parallel()
	for verb, want := range map[string]string{"promote": flagOneEnv, "rollback": flagOneEnv, "hold": flagOrderEnv, "freeze": flagOrderEnv} {
		c := newConsole()
		if code := c.run(t.Context(), verb, "--help"); code != exitDone || !strings.Contains(c.out.String(), want) {
			t.Errorf("%s --help: exit %d, no %q in\n%s", verb, code, want, c.out.String())
		}
	}
}
