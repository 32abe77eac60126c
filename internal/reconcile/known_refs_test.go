package reconcile_test

import (
	"context"
	"strings"
	"testing"

	"promoter/internal/config"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
)

// pushedEverywhere is threeEnvironments without pull requests.
func pushedEverywhere() string {
	return strings.NewReplacer("after: [dev]", "after: [dev], land: push", "automerge", "push").Replace(threeEnvironments)
}

func TestReconcile_listsBranchesOnceForItsOwnPushes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pushedEverywhere())
	w.run()
	w.Git.Listings = 0
	w.pushAndRun(web, "1.1.0")
	if w.Git.Listings != 1 {
		t.Errorf("%d listings", w.Git.Listings)
	}
}

func TestReconcile_listsBranchesWhilePullRequestsAreOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.pushAndRun(web, "1.1.0") // staging is proposed
	w.Git.Listings = 0
	w.pushAndRun(web, "1.2.0")
	if w.Git.Listings != 2 {
		t.Errorf("%d listings, want one for each cycle", w.Git.Listings)
	}
}

// A user pushes between the push of promoter and the cycle that verifies it.
func TestReconcile_findsPushAfterItsOwnInTheNextRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pushedEverywhere())
	w.run()
	w.push(web, "1.1.0")
	r := w.Reconciler()
	var of string
	r.Acted = func(context.Context, *config.Config, []outcome.Effect) {
		if of == "" {
			of = w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Add an application", func(all map[string]string) {
				all["dev/cart.txt"] = line(web, "1.0.0") + "\n"
			})
		}
	}
	if report, err := r.Reconcile(t.Context()); err != nil || report.Failed() {
		t.Fatal(err, report.Errors)
	}
	w.run()
	if got := w.Git.FilesOf(w.Git.Branch("main"))["dev/cart.txt"]; !strings.Contains(got, "1.1.0") {
		t.Errorf("the application of the user has %s", got)
	}
}
