package render

import (
	"bytes"
	"strings"
	"testing"

	"promoter/internal/onboarding"

	"promoter/internal/app"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
)

// The result of an offer is in the text, the JSON, and the summary; a repository that
// waits for a user has not failed.
func TestRun_showsOnboarding(t *testing.T) {
	t.Parallel()
	results := []app.Result{
		{Repository: "acme/gitops", Report: outcome.Report{Unusable: "there is no .promoter.yaml on main"}, Onboarding: &onboarding.Result{
			State: onboarding.Opened, Number: 3, URL: "https://github.com/acme/gitops/pull/3", Commit: "0123456",
		}},
		{Repository: "acme/other", Report: outcome.Report{Unusable: "there is no .promoter.yaml on main"}, Onboarding: &onboarding.Result{
			State: onboarding.Declined, Number: 4, Reason: "pull request #4 is closed",
		}},
	}
	text := Report{}.Results(results)
	for _, line := range []string{
		"acme/gitops\n  onboarding pull request #3 https://github.com/acme/gitops/pull/3 opened\n",
		"acme/other\n  onboarding pull request #4 declined: pull request #4 is closed\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the text lacks %q:\n%s", line, text)
		}
	}
	var messages bytes.Buffer
	PrintFailures(&messages, results, "json")
	PrintRunSummary(&messages, results, false)
	want := "promoter: acme/other: there is no .promoter.yaml on main\npromoter: 2 repositories: 1 opened; 1 repository failed\n"
	if messages.String() != want {
		t.Errorf("printed\n%swant\n%s", messages.String(), want)
	}
	json := ReportJSON(results, nil)
	if one := json.Repositories[0]; one.Failed || one.Onboarding == nil || one.Onboarding.State != "opened" || one.Onboarding.Number != 3 {
		t.Errorf("the JSON has %+v", one)
	}
}

// A commit whose files contradict its trailers is shown with and without details.
func TestRun_showsFalseClaims(t *testing.T) {
	t.Parallel()
	why := "commit 0123456 claims to be the promotion of web 9 to dev"
	results := []app.Result{{Repository: "acme/gitops", Report: outcome.Report{Decisions: []promotion.Decision{{
		Target: promotion.Target{Environment: "dev", Application: "shop"}, State: promotion.Same,
		Reason: promotion.AlreadySame(), Notes: []promotion.Reason{promotion.FalseClaim(why)},
	}}}}}
	for _, details := range []bool{false, true} {
		if text := (Report{Details: details}).Results(results); strings.Count(text, "\n    "+why+"\n") != 1 {
			t.Errorf("details %t:\n%s", details, text)
		}
	}
}
