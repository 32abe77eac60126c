package promotion_test

import (
	"strings"
	"testing"

	"promoter/internal/promotion"
)

// checksOf parses checks: "COMMIT NAME=STATE NAME=STATE; COMMIT …", the newest first.
func checksOf(text string) []promotion.Check {
	var checks []promotion.Check
	for of := range strings.SplitSeq(text, ";") {
		words := strings.Fields(of)
		for i, word := range words {
			if i == 0 {
				continue
			}
			name, state, _ := strings.Cut(word, "=")
			check := promotion.Check{Name: name, Commit: words[0], State: promotion.ConditionState(state)}
			switch state {
			case "canceled":
				check.State, check.NoResult = promotion.Failed, true
			case "skipped":
				check.State, check.NoResult = promotion.Passed, true
			case "running":
				check.State = promotion.Pending
			}
			checks = append(checks, check)
		}
	}
	return checks
}

func TestEvaluateChecks_ofCommitsWithTheSameVersions(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, checks, want string }{
		{"none", "", "waiting: not reported yet"},
		{"a run that the next push canceled", "c2 e2e-a=passed; c1 e2e-a=canceled", "passed"},
		{"the last commit of a push is tested", "c3 e2e-a=passed", "passed"},
		{"canceled, and nothing else ran", "c1 e2e-a=canceled", "waiting: e2e-a ended without a result: run it again"},
		{"the newest failed, an older one passed", "c2 e2e-a=failed; c1 e2e-a=passed", "passed"},
		{"the newest passed, an older one failed", "c2 e2e-a=passed; c1 e2e-a=failed", "passed"},
		{"the newest has not finished, an older one passed", "c2 e2e-a=running; c1 e2e-a=passed", "passed"},
		{"the newest has not finished, an older one failed", "c2 e2e-a=running; c1 e2e-a=failed", "failed: e2e-a failed"},
		{"the newest failed, an older one has not finished", "c2 e2e-a=failed; c1 e2e-a=running", "waiting: e2e-a has not finished"},
		{"the newest failed, an older one was canceled", "c2 e2e-a=failed; c1 e2e-a=canceled", "failed: e2e-a failed"},
		{"each by itself", "c2 e2e-a=failed e2e-b=passed; c1 e2e-a=passed e2e-b=canceled", "passed: 2 of 2 passed"},
		{"another one passed later", "c2 e2e-b=passed; c1 e2e-a=failed", "failed: e2e-a failed"},
		{"another one passed while the first is canceled", "c2 e2e-b=passed; c1 e2e-a=canceled", "waiting: e2e-a ended without a result: run it again: 1 of 2 passed"},
		{"what only a later commit has", "c2 e2e-a=passed e2e-b=failed; c1 e2e-a=passed", "passed"},
		{"what a later commit has, of which the first has no result", "c2 e2e-a=passed e2e-b=failed; c1 e2e-a=canceled", "failed: e2e-b failed: 1 of 2 passed"},
		{"skipped, and nothing else ran", "c1 e2e-a=skipped", "passed"},
		{"canceled on the first commit, skipped on the next", "c2 e2e-a=skipped; c1 e2e-a=canceled", "waiting: e2e-a ended without a result: run it again"},
		{"skipped on the first commit, failed on the next", "c2 e2e-a=failed; c1 e2e-a=skipped", "failed: e2e-a failed"},
		{"failed on the first commit, skipped on the next", "c2 e2e-a=skipped; c1 e2e-a=failed", "failed: e2e-a failed"},
		{"one of two is skipped, and nothing else ran", "c2 e2e-a=failed; c1 e2e-a=passed e2e-b=skipped", "passed: 2 of 2 passed"},
		{"one of two is skipped, and failed on the next", "c2 e2e-b=failed; c1 e2e-a=passed e2e-b=skipped", "failed: e2e-b failed: 1 of 2 passed"},
		{"one of two is skipped, and runs on the next", "c2 e2e-b=running; c1 e2e-a=passed e2e-b=skipped", "waiting: e2e-b has not finished: 1 of 2 passed"},
		{"skipped on all commits", "c2 e2e-a=skipped; c1 e2e-a=skipped", "passed"},
		{"skipped beside a canceled run", "c1 build=canceled e2e-a=skipped", "waiting: e2e-a ended without a result: run it again"},
		{"skipped beside a canceled run, not reported yet on the next", "c2 build=running; c1 build=canceled e2e-a=skipped", "waiting: e2e-a ended without a result: run it again"},
		{"skipped beside a canceled run, and skipped again on the next", "c2 build=passed e2e-a=skipped; c1 build=canceled e2e-a=skipped", "waiting: e2e-a ended without a result: run it again"},
		{"skipped beside a canceled run, failed on the next", "c2 build=passed e2e-a=failed; c1 lint=passed build=canceled e2e-a=skipped", "failed: e2e-a failed"},
		{"skipped beside a failed run", "c1 build=failed e2e-a=skipped", "passed"},
		{"others do not count", "c1 lint=passed promoter=passed", "waiting: not reported yet"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var c promotion.Condition
			promotion.EvaluateChecks(&c, "e2e-*", checksOf(test.checks))
			got := string(c.State)
			for _, text := range []string{c.Reason, c.Value} {
				if text != "" {
					got += ": " + text
				}
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
