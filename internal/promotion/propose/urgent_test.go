package propose_test

import (
	"strings"
	"testing"

	"promoter/internal/promotion"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose/proposetest"
	"promoter/internal/state"
)

// hotfixOf requests a version for shop in dev.
func hotfixOf(w *decidetest.Scenario) {
	w.Explicit = map[promotion.Target]map[string]promotion.Available{
		w.Target("dev/shop"): {"web": {Version: promotiontest.Version("1.4.1@" + decidetest.DigestC), Found: true}},
	}
	w.ChangeState(state.AddRequest(w.StateTarget("dev/shop"), state.Request{Act: promotiontest.ByAda("incident"), With: []string{"quay.io/acme/web:1.4.1"}}))
}

// rollbackOf rolls shop in dev back to 1.3.
func rollbackOf(w *decidetest.Scenario) {
	w.Landings = map[promotion.Target][]promotion.Landing{w.Target("dev/shop"): {
		{Snapshot: promotiontest.SnapshotOf("web:1.4@" + promotiontest.DigestA)}, {Snapshot: promotiontest.SnapshotOf("web:1.3@" + decidetest.DigestC), Until: promotiontest.Noon},
	}}
	w.AddFact("web", "1.3", promotiontest.Version("1.3@"+decidetest.DigestC))
	w.ChangeState(state.Rollback(w.StateTarget("dev/shop"), state.RolledBack{Act: promotiontest.ByAda("slow"), Images: promotiontest.Images("web:1.3@" + decidetest.DigestC)}))
}

const (
	hotfix   = "requested by ada: web 1.4 -> 1.4.1"
	rollback = "rolled back by ada on 2026-11-18: slow: web 1.4 -> 1.3"
)

// What is urgent has a pull request of its own, and the group comes without that application.
func TestPlan_urgentIsOutsideTheGroup(t *testing.T) {
	t.Parallel()
	for why, decides := range map[string]func(*decidetest.Scenario){hotfix: hotfixOf, rollback: rollbackOf} {
		w := groupOf(t)
		decides(w)
		expectSummaries(w,
			"propose promoter/dev/shop [dev/shop]: "+why,
			"propose promoter/dev/_all [dev/jobs]: newer: worker 2.0 -> 2.1",
		)
		// The open pull request loses the application first.
		openGroup(w, bothOf())
		expectSummaries(w,
			"propose promoter/dev/_all [dev/jobs]: newer: worker 2.0 -> 2.1",
			"propose promoter/dev/shop [dev/shop]: "+why,
		)
		// Nothing lands from it before.
		openGroup(w, promotiontest.SnapshotsOf("jobs", "worker:2.1@"+decidetest.DigestC))
		expectSummaries(w,
			"propose promoter/dev/shop [dev/shop]: "+why,
			"land, propose promoter/dev/_all [dev/jobs]: newer: worker 2.0 -> 2.1",
		)
	}
}

// Nothing else is ready: what is open without the application stays as it is, or is closed.
func TestPlan_urgentLeavesAnIdleGroup(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	hotfixOf(w)
	openGroup(w, bothOf())
	w.ChangeState(state.Hold(w.StateTarget("dev/jobs"), promotiontest.ByAda("later")))
	expectSummaries(w,
		"propose promoter/dev/_all [dev/jobs]: on hold by ada since 2026-11-18: later",
		"propose promoter/dev/shop [dev/shop]: "+hotfix,
	)
	if kept := proposetest.Plan(w)[0].Decisions[0]; kept.Snapshot["worker"].Version.Digest != decidetest.DigestC || kept.State != promotion.Waiting {
		t.Errorf("%+v: not what is open", kept)
	}

	openGroup(w, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
	expectSummaries(w,
		"close promoter/dev/_all []: only shop is left in it, which gets a pull request of its own because of: "+hotfix,
		"propose promoter/dev/shop [dev/shop]: "+hotfix,
	)
}

// The pull request of the group is a user's: never are there two about one application.
func TestPlan_urgentWaitsForAForeignGroup(t *testing.T) {
	t.Parallel()
	for _, snapshots := range []map[string]promotion.Snapshot{bothOf(), {}} {
		w := groupOf(t)
		hotfixOf(w)
		openGroup(w, snapshots)
		open := w.Open[allBranch]
		open.Foreign = "bob committed to it"
		w.Open[allBranch] = open
		expectSummaries(w,
			"wait promoter/dev/shop [dev/shop]: waiting: pull request #7 is about shop in dev too, and bob committed to it",
			"keep promoter/dev/_all [dev/jobs]: bob committed to it",
		)
	}
}

// After the request, the application returns to its group: its own pull request is closed first.
func TestPlan_returnsToTheGroup(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	w.OpenPullRequest("promoter/dev/shop", 8, promotiontest.SnapshotsOf("shop", "web:1.3@"+decidetest.DigestC))
	openGroup(w, promotiontest.SnapshotsOf("jobs", "worker:2.1@"+decidetest.DigestC))
	const both = "promoter/dev/_all [dev/jobs dev/shop]: jobs: newer: worker 2.0 -> 2.1 (and 1 more)"
	expectSummaries(w, "close promoter/dev/shop []: the applications of dev now share one pull request", "propose "+both)

	open := w.Open["promoter/dev/shop"]
	open.Foreign = "bob committed to it"
	w.Open["promoter/dev/shop"] = open
	expectSummaries(w,
		"land, propose promoter/dev/_all [dev/jobs]: newer: worker 2.0 -> 2.1",
		"keep promoter/dev/shop [dev/shop]: bob committed to it",
	)
}

// Emergencies neither wait for the limit nor count.
func TestPlan_urgentIsOutsideTheLimit(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, promotiontest.Components+"environments:\n  dev: {paths: ['dev/{application}'], pullRequest: {limit: 1}}\n").WithForge()
	w.Has("dev/shop", "web:1.4@"+promotiontest.DigestA)
	w.Has("dev/jobs", "worker:2.0@"+promotiontest.DigestA)
	w.Has("dev/more", "worker:2.0@"+promotiontest.DigestA)
	w.Publish("web:1.5@"+promotiontest.DigestB, "worker:2.1@"+decidetest.DigestC)
	hotfixOf(w)
	const waits = "wait promoter/dev/more [dev/more]: 1st in the queue: 1 of 1 pull requests are open"
	expectSummaries(w,
		"propose promoter/dev/shop [dev/shop]: "+hotfix, "propose promoter/dev/jobs [dev/jobs]: newer: worker 2.0 -> 2.1", waits,
	)
	w.OpenPullRequest("promoter/dev/jobs", 7, promotiontest.SnapshotsOf("jobs", "worker:2.1@"+decidetest.DigestC))
	expectSummaries(w,
		"propose promoter/dev/shop [dev/shop]: "+hotfix, "propose promoter/dev/jobs [dev/jobs]: newer: worker 2.0 -> 2.1", waits,
	)
	delete(w.Open, "promoter/dev/jobs")
	w.OpenPullRequest("promoter/dev/shop", 8, promotiontest.SnapshotsOf("shop", "web:1.4.1@"+decidetest.DigestC))
	expectSummaries(w,
		"propose promoter/dev/shop [dev/shop]: "+hotfix, "propose promoter/dev/jobs [dev/jobs]: newer: worker 2.0 -> 2.1", waits,
	)
}

// What a pipeline posts is no emergency.
func TestPlan_postedSnapshotsAreNotUrgent(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	hotfixOf(w)
	request := w.State.At(w.StateTarget("dev/shop")).Request
	request.Posted = "shop-1"
	w.ChangeState(state.RemoveRequest(w.StateTarget("dev/shop"), *request), state.AddRequest(w.StateTarget("dev/shop"), *request))
	for _, p := range proposetest.Summaries(proposetest.Plan(w)) {
		if strings.Contains(p, "promoter/dev/shop ") {
			t.Error(p)
		}
	}
}
