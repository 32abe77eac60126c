package reconcile_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"promoter/internal/config"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
)

// An action is announced when it was done, and stays in the report of a reconciliation
// that is interrupted afterwards.
func TestReconcile_announcesActionsWhenTheyHappen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.push(web, "1.1.0")
	ctx, cancel := context.WithCancel(t.Context())
	var acted, opened []outcome.Action
	w.Forge.Effect = func(before bool, what string) error {
		if before && what == "create" {
			opened = slices.Clone(acted)
			cancel()
			return ctx.Err()
		}
		return nil
	}
	reconciler := w.Reconciler()
	reconciler.Acted = func(_ context.Context, _ *config.Config, effects []outcome.Effect) {
		for _, effect := range effects {
			acted = append(acted, effect.Action)
			if len(effect.Promotions) != 1 || effect.Commit != w.Git.Branch("main") {
				t.Errorf("announced %+v", effect)
			}
		}
	}
	report, err := reconciler.Reconcile(ctx)
	if err == nil || !slices.Equal(opened, []outcome.Action{outcome.ActionPushed}) || !slices.Equal(acted, opened) {
		t.Errorf("announced %v before the pull request and %v in all: %v", opened, acted, err)
	}
	if len(report.Effects) != 1 || report.Effects[0].Action != outcome.ActionPushed {
		t.Errorf("the report of the interrupted reconciliation has %+v", report.Effects)
	}
}

// A pull request is refreshed if it has a new head. A new text alone is an update.
func TestReconcile_refreshedOnlyForANewHead(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.Rewrite(1, w.pull(1).Title, "")
	wantAction(t, w.run(), outcome.ActionUpdated)
	w.calm()
	report := w.pushAndRun(web, "1.2.0")
	wantAction(t, report, outcome.ActionRefreshed)
}

// A target that waits for the limit of open pull requests shows its position.
func TestReconcile_showsThePositionInTheQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], pullRequest: {limit: 1}}"))
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Add an application", func(all map[string]string) {
		for _, environment := range environments() {
			all[environment+"/cart.txt"] = line(worker, "1.0.0") + "\n"
		}
	})
	w.push(web, "1.1.0")
	w.pushAndRun(worker, "1.1.0")
	observed, err := w.Reconciler().Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, report := range []outcome.Report{w.run(), observed} {
		wantReason(t, report, "staging", "waiting: 1st in the queue: 1 of 1 pull requests are open")
	}
	w.calm()
}

// wantAction checks the last action of a report.
func wantAction(t *testing.T, report outcome.Report, want outcome.Action) {
	t.Helper()
	if last := report.Effects[len(report.Effects)-1].Action; last != want {
		t.Errorf("%s, want %s", last, want)
	}
}
