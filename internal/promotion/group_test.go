package promotion_test

import (
	"testing"

	"promoter/internal/promotion"
)

const allBranch = "promoter/dev/_all"

// groupOf is an environment whose applications share one pull request: web in
// shop, worker in jobs, both with something newer.
func groupOf(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, components+`
environments:
  dev: {paths: ["dev/{application}"], land: automerge, gates: {checks: [ci]}, pullRequest: {group: environment}}
applications:
  strict: {environments: {dev: {gates: {checks: [ci, audit]}}}}
  careful: {environments: {dev: {land: pr}}}
`).forge()
	w.has("dev/shop", "web:1.4@"+digestA)
	w.has("dev/jobs", "worker:2.0@"+digestA)
	w.offers("web:1.5@"+digestB, "worker:2.1@"+digestC)
	return w
}

func bothOf() map[string]promotion.Snapshot {
	return map[string]promotion.Snapshot{
		"shop": snapshotOf("web:1.5@" + digestB),
		"jobs": snapshotOf("worker:2.1@" + digestC),
	}
}

func (w *world) openGroup(snapshots map[string]promotion.Snapshot) {
	open := w.opened(allBranch, 7, snapshots)
	open.Checks = []promotion.Check{check("ci", promotion.Passed)}
	w.Open[allBranch] = open
}

func TestArrange_group(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	const together = "promoter/dev/_all [dev/jobs dev/shop]: jobs: newer: worker 2.0 -> 2.1 (and 1 more)"
	w.expectShort("propose " + together)
	if !w.only().Group {
		t.Error("it is a group")
	}
	w.openGroup(bothOf())
	w.expectShort("land, propose " + together)

	// An application that is not in it yet: first it is rebuilt.
	w.openGroup(of("shop", "web:1.5@"+digestB))
	w.expectShort("propose " + together)
}

// One that stops being ready leaves by a rebuild, and nothing lands before it.
func TestArrange_groupMemberLeaves(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	w.openGroup(bothOf())
	w.rejects("dev/jobs", "worker:2.1@"+digestC)
	w.Available["worker"] = promotion.Available{Version: version("2.0@" + digestA), Found: true}
	w.expectShort("propose promoter/dev/_all [dev/shop]: newer: web 1.4 -> 1.5")
}

// One whose registry is silent stays as it is, and holds the merge up.
func TestArrange_groupMemberUnanswered(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	w.openGroup(bothOf())
	w.Available["worker"] = promotion.Available{Err: errDown}
	w.expectShort("propose promoter/dev/_all [dev/jobs dev/shop]: jobs: worker: down (and 1 more)")
	moved := w.only().Decisions[0]
	if to, moves := moved.Wanted("worker"); !moves || to.Digest != digestC {
		t.Errorf("%+v: not what is open", moved.Moves)
	}
	// It never was in it, so it does not come in.
	w.openGroup(of("shop", "web:1.5@"+digestB))
	w.expectShort("land, propose promoter/dev/_all [dev/shop]: newer: web 1.4 -> 1.5")
}

// The strictest of all members decides about landing.
func TestArrange_groupStrictest(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	w.has("dev/strict", "web:1.4@"+digestA)
	snapshots := bothOf()
	snapshots["strict"] = snapshotOf("web:1.5@" + digestB)
	w.openGroup(snapshots)
	p := w.only()
	if p.Land || gateNamed(t, p.Gates, "check audit").State != promotion.Pending || len(p.Gates) != 2 {
		t.Errorf("land %v, gates %+v", p.Land, p.Gates)
	}

	w = groupOf(t)
	w.has("dev/careful", "web:1.4@"+digestA)
	snapshots = bothOf()
	snapshots["careful"] = snapshotOf("web:1.5@" + digestB)
	w.openGroup(snapshots)
	if w.only().Land {
		t.Error("people merge one of them")
	}
}

func TestArrange_groupWithNothingReady(t *testing.T) {
	t.Parallel()
	nothing := func(w *world) { w.offers("web:1.4@"+digestA, "worker:2.0@"+digestA) }

	w := groupOf(t)
	nothing(w)
	w.expectShort()

	w.openGroup(bothOf()) // still wanted, for all we know
	w.expectShort("keep promoter/dev/_all [dev/jobs dev/shop]: holds this already")

	done := groupOf(t)
	nothing(done)
	done.openGroup(map[string]promotion.Snapshot{"shop": snapshotOf("web:1.4@" + digestA), "gone": snapshotOf("web:1.5@" + digestB)})
	done.expectShort("close promoter/dev/_all [dev/shop]: holds this already")

	foreign := groupOf(t)
	foreign.openGroup(bothOf())
	open := foreign.Open[allBranch]
	open.Foreign = "ada committed to it"
	foreign.Open[allBranch] = open
	foreign.expectShort("keep promoter/dev/_all [dev/jobs dev/shop]: ada committed to it")

	silent := groupOf(t)
	silent.Available = map[string]promotion.Available{"web": {Err: errDown}, "worker": {Err: errDown}}
	silent.expectShort("wait promoter/dev/_all [dev/jobs dev/shop]: jobs: worker: down (and 1 more)")
	silent.openGroup(bothOf())
	silent.expectShort("keep promoter/dev/_all [dev/jobs dev/shop]: worker: down")
}

// The setting was changed while pull requests are open.
func TestArrange_groupChanged(t *testing.T) {
	t.Parallel()
	w := groupOf(t)
	w.opened("promoter/dev/shop", 5, of("shop", "web:1.5@"+digestB))
	w.expectShort(
		"close promoter/dev/shop []: the applications of dev share one pull request now",
		"propose promoter/dev/_all [dev/jobs dev/shop]: jobs: newer: worker 2.0 -> 2.1 (and 1 more)",
	)

	back := oneOf(t, "")
	back.opened(allBranch, 7, of("shop", "web:1.5@"+digestB))
	back.expectShort(
		"close promoter/dev/_all []: the applications of dev have pull requests of their own now",
		"propose promoter/dev/shop [dev/shop]: newer: web 1.4 -> 1.5",
	)

	empty := groupOf(t)
	empty.Targets = map[promotion.Target]promotion.Current{}
	empty.openGroup(bothOf())
	empty.expectShort("close promoter/dev/_all []: no environment has files of any application any more")
}
