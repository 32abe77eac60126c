package propose_test

import (
	"testing"

	"promoter/internal/promotion"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose/proposetest"
)

const allBranch = "promoter/dev/_all"

// groupOf is an environment whose applications share one pull request: web in
// shop, worker in jobs, both with something newer.
func groupOf(t *testing.T) *decidetest.Scenario {
	t.Helper()
	w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  dev: {paths: ["dev/{application}"], land: automerge, gates: {checks: [ci]}, pullRequest: {group: environment}}
applications:
  strict: {environments: {dev: {gates: {checks: [ci, audit]}}}}
  careful: {environments: {dev: {land: pr}}}
`).WithForge()
	w.Has("dev/shop", "web:1.4@"+promotiontest.DigestA)
	w.Has("dev/jobs", "worker:2.0@"+promotiontest.DigestA)
	w.Publish("web:1.5@"+promotiontest.DigestB, "worker:2.1@"+decidetest.DigestC)
	return w
}

func bothOf() map[string]promotion.Snapshot {
	return map[string]promotion.Snapshot{
		"shop": promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB),
		"jobs": promotiontest.SnapshotOf("worker:2.1@" + decidetest.DigestC),
	}
}

func openGroup(w *decidetest.Scenario, snapshots map[string]promotion.Snapshot) {
	open := w.OpenPullRequest(allBranch, 7, snapshots)
	open.Checks = []promotion.Check{promotiontest.Check("ci", promotion.Passed)}
	w.Open[allBranch] = open
}

func TestPlan_group(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	const together = "promoter/dev/_all [dev/jobs dev/shop]: jobs: newer: worker 2.0 -> 2.1 (and 1 more)"
	expectSummaries(w, "propose "+together)
	if !proposetest.Only(w).Group {
		t.Error("it is a group")
	}
	openGroup(w, bothOf())
	expectSummaries(w, "land, propose "+together)

	// An application that is not in it yet: first it is rebuilt.
	openGroup(w, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
	expectSummaries(w, "propose "+together)
}

// One that stops being ready leaves by a rebuild, and nothing lands before it.
func TestPlan_groupMemberLeaves(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	openGroup(w, bothOf())
	w.Reject("dev/jobs", "worker:2.1@"+decidetest.DigestC)
	w.Available["worker"] = promotion.Available{Version: promotiontest.Version("2.0@" + promotiontest.DigestA), Found: true}
	expectSummaries(w, "propose promoter/dev/_all [dev/shop]: newer: web 1.4 -> 1.5")
}

// One whose registry is silent stays as it is, and holds the merge up.
func TestPlan_groupMemberWithRegistryError(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	openGroup(w, bothOf())
	w.Available["worker"] = promotion.Available{Err: decidetest.ErrDown}
	expectSummaries(w, "propose promoter/dev/_all [dev/jobs dev/shop]: jobs: worker: down (and 1 more)")
	moved := proposetest.Only(w).Decisions[0]
	if move, moves := promotion.MoveOf(moved.Moves, "worker"); !moves || move.To.Digest != decidetest.DigestC {
		t.Errorf("%+v: not what is open", moved.Moves)
	}
	// It never was in it, so it does not come in.
	openGroup(w, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
	expectSummaries(w, "land, propose promoter/dev/_all [dev/shop]: newer: web 1.4 -> 1.5")
}

// The strictest of all members decides about landing.
func TestPlan_groupUsesStrictestGates(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	w.Has("dev/strict", "web:1.4@"+promotiontest.DigestA)
	snapshots := bothOf()
	snapshots["strict"] = promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB)
	openGroup(w, snapshots)
	p := proposetest.Only(w)
	if p.Land || promotiontest.GateNamed(t, p.Gates, "check audit").State != promotion.Pending || len(p.Gates) != 2 {
		t.Errorf("land %v, gates %+v", p.Land, p.Gates)
	}

	w = groupOf(t)
	w.Has("dev/careful", "web:1.4@"+promotiontest.DigestA)
	snapshots = bothOf()
	snapshots["careful"] = promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB)
	openGroup(w, snapshots)
	if proposetest.Only(w).Land {
		t.Error("people merge one of them")
	}
}

func TestPlan_groupWithNothingReady(t *testing.T) {
	t.Parallel()
	nothing := func(w *decidetest.Scenario) {
		w.Publish("web:1.4@"+promotiontest.DigestA, "worker:2.0@"+promotiontest.DigestA)
	}

	w := groupOf(t)
	nothing(w)
	expectSummaries(w)

	openGroup(w, bothOf()) // still wanted, for all we know
	expectSummaries(w, "keep promoter/dev/_all [dev/jobs dev/shop]: already up to date")

	done := groupOf(t)
	nothing(done)
	openGroup(done, map[string]promotion.Snapshot{"shop": promotiontest.SnapshotOf("web:1.4@" + promotiontest.DigestA), "gone": promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB)})
	expectSummaries(done, "close promoter/dev/_all [dev/shop]: already up to date")

	gone := groupOf(t)
	nothing(gone)
	openGroup(gone, map[string]promotion.Snapshot{"gone": promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB)})
	expectSummaries(gone, "close promoter/dev/_all [dev/jobs dev/shop]: no environment has files of gone")

	foreign := groupOf(t)
	openGroup(foreign, bothOf())
	open := foreign.Open[allBranch]
	open.Foreign = "ada committed to it"
	foreign.Open[allBranch] = open
	expectSummaries(foreign, "keep promoter/dev/_all [dev/jobs dev/shop]: ada committed to it")

	silent := groupOf(t)
	silent.Available = map[string]promotion.Available{"web": {Err: decidetest.ErrDown}, "worker": {Err: decidetest.ErrDown}}
	expectSummaries(silent, "wait promoter/dev/_all [dev/jobs dev/shop]: jobs: worker: down (and 1 more)")
	openGroup(silent, bothOf())
	expectSummaries(silent, "keep promoter/dev/_all [dev/jobs dev/shop]: worker: down")
}

// The setting was changed while pull requests are open.
func TestPlan_groupChanged(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	w.OpenPullRequest("promoter/dev/shop", 5, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
	expectSummaries(w,
		"close promoter/dev/shop []: the applications of dev now share one pull request",
		"propose promoter/dev/_all [dev/jobs dev/shop]: jobs: newer: worker 2.0 -> 2.1 (and 1 more)",
	)

	back := oneOf(t, "")
	back.OpenPullRequest(allBranch, 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
	expectSummaries(back,
		"close promoter/dev/_all []: the applications of dev now have separate pull requests",
		"propose promoter/dev/shop [dev/shop]: newer: web 1.4 -> 1.5",
	)

	empty := groupOf(t)
	empty.Targets = map[promotion.Target]promotion.Current{}
	openGroup(empty, bothOf())
	expectSummaries(empty, "close promoter/dev/_all []: no environment has files of any application")
}
