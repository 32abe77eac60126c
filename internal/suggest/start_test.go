package suggest_test

import (
	"strings"
	"testing"

	"promoter/internal/suggest"
)

func TestSuggestion_Begin(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		promotions, versions int
		want                 string // in dev
		guesses              int
	}{
		"little":        {10, 20, "", 0},
		"many":          {11, 1, "pullRequest: {limit: 3} # or: {limit: 20}", 1},
		"large":         {1, 21, "propose: manual # or: automatic", 1},
		"many of those": {11, 21, "propose: manual # or: automatic\n    land: pr # or: automerge\n    pullRequest: {limit: 3}", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := suggestion(t, found(t, "apps/web/dev/k.yaml a.io/x/web:1.2.0", "apps/web/prod/k.yaml a.io/x/web:1.1.0"))
			plain := s.Text
			start := suggest.StartWith(test.promotions, test.versions)
			s.Begin(map[string]suggest.Start{"dev": start})
			holdsTogether(t, s)
			_, dev, _ := strings.Cut(s.Text, "  dev:\n")
			dev, _, _ = strings.Cut(dev, "  prod:\n")
			if !strings.Contains(dev, test.want) || (test.want == "") != (s.Text == plain) {
				t.Errorf("dev is\n%s", dev)
			}
			if got := guessesOf(s, suggest.GuessStart); len(got) != test.guesses {
				t.Errorf("guesses: %q", got)
			}
			if e, _ := loads(t, s.Text).Environment("dev"); suggest.StartOf(e) != start {
				t.Errorf("the file begins with %+v, want %+v", suggest.StartOf(e), start)
			}
			s.Begin(nil)
			if s.Text != plain {
				t.Errorf("it does not begin normally again:\n%s", s.Text)
			}
		})
	}
}
