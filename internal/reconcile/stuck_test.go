package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/explain"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// stuckIn returns what is stuck in an environment of a report, and what explain answers about it; nil: it is not stuck.
func stuckIn(t *testing.T, report outcome.Report, environment string) (*promotion.Obstacle, explain.Blocker) {
	t.Helper()
	var proposals []propose.Proposal
	for _, e := range report.Effects {
		proposals = append(proposals, e.Proposal)
	}
	for _, d := range report.Decisions {
		if d.Environment != environment {
			continue
		}
		blocker, _ := explain.Blocking(d, proposals)
		if (d.State == promotion.Stuck) != (d.Obstacle != nil) || (d.State == promotion.Stuck) != (d.Reason.Rule == promotion.RuleStuck) {
			t.Errorf("state %s, reason %+v, obstacle %+v", d.State, d.Reason, d.Obstacle)
		}
		return d.Obstacle, blocker
	}
	return nil, explain.Blocker{}
}

func wantObstacle(t *testing.T, report outcome.Report, environment string, cause promotion.Cause, message, remedy string) promotion.Obstacle {
	t.Helper()
	got, blocker := stuckIn(t, report, environment)
	if got == nil {
		t.Fatalf("%s is not stuck: %+v", environment, report.Decisions)
	}
	if got.Cause != cause || !strings.Contains(got.Message, message) || !strings.Contains(got.Remedy, remedy) {
		t.Errorf("%+v, want %s, %q, %q", *got, cause, message, remedy)
	}
	if blocker.Reason != got.Message || blocker.Advice != got.Remedy || blocker.State != promotion.Blocked {
		t.Errorf("explained as %+v, want %+v", blocker, *got)
	}
	return *got
}

func wantMoving(t *testing.T, report outcome.Report, environment string) {
	t.Helper()
	if got, _ := stuckIn(t, report, environment); got != nil {
		t.Errorf("%s is stuck: %+v", environment, *got)
	}
}

// A required check without a run is waited for some minutes. Then it is an obstacle, until a run starts.
func TestReconcile_checkThatNeverStarts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		gates  string
		rules  scm.Rules
		remedy string
	}{
		"of the config": {", gates: {checks: [ci]}", scm.Rules{}, "gates.checks"},
		"of the forge":  {"", scm.Rules{Checks: []string{"ci"}}, "the required checks of main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := protected(t, test.gates, test.rules)
			report := w.run()
			wantMoving(t, report, "prod")
			var due time.Time
			for _, e := range report.Effects {
				for _, gate := range e.Gates {
					if gate.Overdue.After(due) {
						due = gate.Overdue
					}
				}
			}
			if !due.After(w.Clock.Now()) || due.After(w.Clock.Now().Add(promotion.StartOfChecks)) {
				t.Fatalf("it is looked at again at %s, now is %s", due, w.Clock.Now())
			}
			w.Clock.Add(due.Sub(w.Clock.Now()))
			report = w.run()
			first := wantObstacle(t, report, "prod", promotion.CauseCheck, "the check ci has not started since", test.remedy)
			if !strings.Contains(first.Remedy, "promoter/prod/shop") || first.Since == nil {
				t.Errorf("%+v", first)
			}
			if !strings.Contains(w.pull(2).Body, "has not started since") {
				t.Errorf("the pull request does not name it:\n%s", w.pull(2).Body)
			}
			w.Clock.Add(time.Hour)
			if again := wantObstacle(t, w.run(), "prod", promotion.CauseCheck, "ci", test.remedy); again.ID() != first.ID() {
				t.Errorf("it is another one: %s, before %s", again.ID(), first.ID())
			}
			w.calm()
			w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckPending)
			wantMoving(t, w.run(), "prod")
			w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckPassed)
			w.run()
			w.holds("prod", "1.1.0 1.0.0")
		})
	}
}

// A refused push has the words of the forge, and what to do about them. The next attempt that succeeds ends it.
func TestReconcile_pushThatIsRefused(t *testing.T) {
	t.Parallel()
	for words, remedy := range map[string]string{
		"GH006: Protected branch update failed for refs/heads/promoter/staging/shop":                                           "let it bypass the rule",
		"GitLab: You are not allowed to push code to protected branches on this project.":                                      "let it bypass the rule",
		"refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission": "permission to write workflows",
		"pre-receive hook declined":                    "the server's hook",
		"403: Write access to repository not granted.": "write access to the contents",
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, threeEnvironments)
			w.push(web, "1.1.0")
			w.Git.Effect = func(before bool, updates []repo.Update) error {
				if before && updates[0].Branch == "promoter/staging/shop" {
					return fault.New(fault.Unauthorized, "%s", words)
				}
				return nil
			}
			report, err := w.Reconciler().Reconcile(t.Context())
			if err != nil || !report.Failed() {
				t.Fatalf("%v, failed: %v", err, report.Failed())
			}
			first := wantObstacle(t, report, "staging", promotion.CausePush, words, remedy)
			report, err = w.Reconciler().Reconcile(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if again := wantObstacle(t, report, "staging", promotion.CausePush, words, remedy); again.ID() != first.ID() {
				t.Errorf("it is another one: %s, before %s", again.ID(), first.ID())
			}
			w.Git.Effect = nil
			wantMoving(t, w.run(), "staging")
			w.wantPulls("promoter/staging/shop open")
		})
	}
}

// A pull request that belongs to a user and conflicts with its base is for users alone to resolve.
func TestReconcile_conflictOfWhatAUserWrote(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.pushAndRun(web, "1.1.0")
	own := func(all map[string]string) { all["staging/shop.yaml"] += "# mine\n" }
	w.Git.Commit("promoter/staging/shop", reconciletest.Human, w.Clock.Now(), "By hand", own)
	wantMoving(t, w.run(), "staging")
	w.Forge.Conflicted = map[int]bool{1: true}
	wantObstacle(t, w.run(), "staging", promotion.CauseConflict, "pull request #1 conflicts with", "promoter/staging/shop")
	w.Forge.Conflicted = nil
	wantMoving(t, w.run(), "staging")
}
