package strictyaml

import (
	"strings"
	"testing"
)

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	candidates := []string{"components", "environments", "pullRequest", "land"}
	for written, want := range map[string]string{
		"component":                   "did you mean components?",
		"enviroments":                 "did you mean environments?",
		"pull-request":                "did you mean pullRequest?",
		"pull_request":                "did you mean pullRequest?",
		"lnad":                        "did you mean land?",
		"something":                   "known here: components, environments, land, pullRequest",
		strings.Repeat("x", 1000):     "known here: components, environments, land, pullRequest",
		strings.Repeat("landland", 9): "known here: components, environments, land, pullRequest",
	} {
		if got := DidYouMean(written, candidates); got != want {
			t.Errorf("DidYouMean(%.20s) = %s; want %s", written, got, want)
		}
	}
	if got := Nearest("x", []string{strings.Repeat("y", 100)}); got != "" {
		t.Errorf("nearest = %q", got)
	}
}
