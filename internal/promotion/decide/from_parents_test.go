package decide_test

import (
	"testing"
	"time"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

func TestPlan_childFollowsItsParent(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.5.0@"+promotiontest.DigestA, "worker:2.0.0")
	w.Has("staging/shop", "web:1.4.0", "worker:2.0.0")
	w.Publish("web:1.6.0@" + promotiontest.DigestB)
	d := w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
	if v, ok := promotion.MoveOf(d.Moves, "web"); !ok || v.To.Digest != promotiontest.DigestA {
		t.Errorf("wanted web: %v, %v", v, ok)
	}
	if _, ok := promotion.MoveOf(d.Moves, "worker"); ok {
		t.Error("worker does not differ and is wanted")
	}
}

func TestPlan_noDifference(t *testing.T) {
	t.Parallel()
	t.Run("same passes on", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("dev/shop", "web:1.5.0")
		w.Has("staging/shop", "web:1.5.0")
		w.Has("prod/shop", "web:1.4.0")
		w.Expect("staging/shop", promotion.Same, "already up to date")
		w.Expect("prod/shop", promotion.Proposed, "staging has: web 1.4.0 -> 1.5.0")
	})
	t.Run("a component that is not upstream", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("dev/shop", "web:1.5.0")
		w.Has("staging/shop", "web:1.5.0", "worker:2.0.0")
		w.Has("prod/shop", "moving:1")
		w.Expect("staging/shop", promotion.Same, "already up to date; no upstream environment references worker")
		w.Expect("prod/shop", promotion.Same, "no upstream environment references moving")
	})
	t.Run("a component that left the config", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("dev/shop") // its files reference images that no component follows
		w.Has("staging/shop")
		w.Expect("dev/shop", promotion.NoReference, "no reference to a followed component")
		w.Expect("staging/shop", promotion.NoReference, "no reference to a followed component")
	})
	t.Run("absent is looked through to the grandparent", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("dev/shop", "web:1.5.0")
		w.Has("prod/shop", "web:1.4.0")
		w.Expect("staging/shop", promotion.Absent, "shop has no files in staging")
		w.Expect("prod/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
	})
	t.Run("no reference keeps the next one waiting", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("dev/shop", "web:1.5.0")
		w.Has("staging/shop")
		w.Has("prod/shop", "web:1.4.0")
		w.Expect("prod/shop", promotion.Waiting, "staging has no reference to a followed component")
		w.Targets[w.Target("staging/shop")] = promotion.Current{Refusals: []edit.Refusal{{File: "a.yaml", Reason: "does not parse"}}}
		w.Expect("prod/shop", promotion.Waiting, "the versions of staging are unknown: a.yaml: does not parse")
	})
	t.Run("absent everywhere before", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("prod/shop", "web:1.4.0")
		w.Expect("prod/shop", promotion.Waiting, "no upstream environment has files of shop")
	})
	t.Run("no reference says what the parent has", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("dev/shop", "web:1.5.0")
		w.Has("staging/shop")
		w.Expect("staging/shop", promotion.NoReference,
			"no reference to a followed component; upstream has web 1.5.0")
	})
}

// diamond is dev -> {a, b} -> prod.
const diamond = promotiontest.Components + `
environments:
  dev: {paths: [dev]}
  a: {paths: [a], after: [dev]}
  b: {paths: [b], after: [dev]}
  prod: {paths: [prod], after: [a, b]}
`

func TestPlan_severalParents(t *testing.T) {
	t.Parallel()
	t.Run("that agree", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, diamond)
		w.Has("a", "web:1.5.0")
		w.Has("b", "web:1.5.0@"+promotiontest.DigestA)
		w.Has("prod", "web:1.4.0")
		d := w.Expect("prod", promotion.Proposed, "a and b have: web 1.4.0 -> 1.5.0")
		if v, _ := promotion.MoveOf(d.Moves, "web"); v.To.Digest != promotiontest.DigestA {
			t.Errorf("the digest that one parent knows is lost: %+v", v)
		}
	})
	t.Run("that differ", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, diamond)
		w.Has("a", "web:1.6.0", "worker:2.1.0")
		w.Has("b", "web:1.5.0", "worker:2.1.0")
		w.Has("prod", "web:1.4.0", "worker:2.0.0")
		d := w.Expect("prod", promotion.Waiting, "the upstream environments differ: web 1.6.0 in a, 1.5.0 in b")
		if len(d.Moves) != 1 || d.Moves[0].Component != "worker" {
			t.Errorf("what the parents agree on is not shown: %v", d.Moves)
		}
	})
	t.Run("of which one disagrees with itself", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, diamond)
		w.Has("a", "web:1.6.0", "web:1.5.0")
		w.Has("b", "web:1.5.0")
		w.Has("prod", "web:1.4.0")
		w.Expect("prod", promotion.Waiting, `a has several versions of web: ["1.5.0" "1.6.0"]`)
	})
}

func TestPlan_forwardAndBackWaits(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.5.0", "worker:1.9.0")
	w.Has("staging/shop", "web:1.4.0", "worker:2.0.0")
	d := w.Expect("staging/shop", promotion.Waiting, "would move back: worker 2.0.0 -> 1.9.0")
	if len(d.Moves) != 2 {
		t.Errorf("the snapshot was split: %v", d.Moves)
	}
}

func TestPlan_movingTagWithoutDigest(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "moving:released")
	w.Has("staging/shop", "moving:released@"+promotiontest.DigestA)
	w.Expect("staging/shop", promotion.Waiting,
		"digest unknown: dev references moving by the moving tag released without a digest")
	w.AddFact("moving", "released", image.Version{Digest: promotiontest.DigestB}) // today
	w.Expect("staging/shop", promotion.Waiting,
		"digest unknown: dev references moving by the moving tag released without a digest")
}

func TestPlan_tagMovedSinceTheParent(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.5.0@"+promotiontest.DigestA)
	w.Has("staging/shop", "web:1.4.0")
	w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0") // the registry is not available
	w.AddFact("web", "1.5.0", image.Version{Digest: promotiontest.DigestA})
	w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
	w.AddFact("web", "1.5.0", image.Version{Digest: promotiontest.DigestB})
	w.Expect("staging/shop", promotion.Waiting,
		"web 1.5.0: tag moved: it now points to sha256:bbbbbbbbbbbb instead of sha256:aaaaaaaaaaaa")
}

func TestPlan_imageMissing(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.5.0", "moving:released@"+promotiontest.DigestA)
	w.Has("staging/shop", "web:1.4.0", "moving:released@"+promotiontest.DigestA)
	w.Has("dev/other", "moving:released@"+promotiontest.DigestB)
	w.Has("staging/other", "moving:released@"+promotiontest.DigestA)
	w.AddFact("web", "1.5.0", image.Version{})
	w.Expect("staging/shop", promotion.Waiting, "web 1.5.0: image missing: no longer in the registry")
	w.Facts[promotion.Fact{Repository: promotiontest.Repository("moving"), Tag: "released", Digest: promotiontest.DigestB}] = image.Version{}
	w.Expect("staging/other", promotion.Waiting, "moving released: image missing: no longer in the registry")
}

func TestPlan_unavailableBranch(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Unavailable["staging"] = "origin/staging is not in this clone"
	w.Has("dev/shop", "web:1.5.0")
	w.Has("prod/shop", "web:1.4.0")
	w.Expect("staging/shop", promotion.NotCheckedOut, "origin/staging is not in this clone")
	w.Expect("prod/shop", promotion.NotCheckedOut,
		"staging is not checked out: origin/staging is not in this clone")
}

func TestPlan_unavailableBranchWithoutApplications(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Unavailable["dev"] = "away"
	decisions := w.Plan(promotiontest.Noon)
	if len(decisions) != 1 || decisions[0].State != promotion.NotCheckedOut {
		t.Errorf("decisions: %+v", decisions)
	}
}

func TestPlan_refusalStopsTheTarget(t *testing.T) {
	t.Parallel()
	refusal := edit.Refusal{File: "dev/shop/broken.yaml", Line: 3, Reason: "does not parse"}
	t.Run("with a difference", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("dev/shop", "web:1.4.0")
		w.Has("dev/other", "web:1.4.0")
		present := w.Targets[w.Target("dev/shop")]
		present.Refusals = []edit.Refusal{refusal, refusal}
		w.Targets[w.Target("dev/shop")] = present
		w.Publish("web:1.5.0")
		w.Expect("dev/shop", promotion.Refused, "dev/shop/broken.yaml:3: does not parse (and 1 more)")
		w.Expect("dev/other", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
	})
	t.Run("without a difference in what can be read", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		for _, target := range []string{"dev/shop", "staging/shop"} {
			w.Has(target, "web:1.5.0")
			present := w.Targets[w.Target(target)]
			present.Refusals = []edit.Refusal{refusal}
			w.Targets[w.Target(target)] = present
			w.Expect(target, promotion.Refused, "dev/shop/broken.yaml:3: does not parse")
		}
	})
	t.Run("without a readable reference", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Targets[w.Target("dev/shop")] = promotion.Current{Refusals: []edit.Refusal{refusal}}
		w.Expect("dev/shop", promotion.Refused, "dev/shop/broken.yaml:3: does not parse")
	})
}

// TestPlan_refusalSparesOthers leaves out the components of a config without applications
// that a refusal stops.
func TestPlan_refusalSparesOthers(t *testing.T) {
	t.Parallel()
	const flat = promotiontest.Components + `
environments:
  dev: {paths: [dev]}
  prod: {paths: [prod], after: [dev]}
`
	refusal := edit.Refusal{File: "broken.yaml", Line: 3, Reason: "does not parse", Unaffected: []string{"worker"}}
	world := func(t *testing.T, config string, references ...string) *decidetest.Scenario {
		t.Helper()
		w := decidetest.NewCheckout(t, config)
		for _, target := range []string{"dev", "prod"} {
			w.Has(target, references...)
			current := w.Targets[w.Target(target)]
			current.Refusals = []edit.Refusal{refusal}
			w.Targets[w.Target(target)] = current
		}
		return w
	}

	t.Run("from the registry", func(t *testing.T) {
		t.Parallel()
		w := world(t, flat, "web:1.4.0", "worker:2.0.0")
		w.Publish("web:1.5.0", "worker:2.1.0")
		w.Expect("dev", promotion.Proposed, "newer: worker 2.0.0 -> 2.1.0")
		d := w.Decide("dev")
		if got := d.Snapshot.String(); got != "web 1.4.0, worker 2.1.0" {
			t.Errorf("snapshot %s", got)
		}
		if len(d.Left) != 1 || d.Left[0].Move.Component != "web" || d.Left[0].Reason.Message != "broken.yaml:3: does not parse" {
			t.Errorf("left: %+v", d.Left)
		}
	})
	t.Run("from a parent", func(t *testing.T) {
		t.Parallel()
		w := world(t, flat, "web:1.4.0", "worker:2.0.0")
		delete(w.Targets, w.Target("dev"))
		w.Has("dev", "web:1.5.0", "worker:2.1.0")
		w.Expect("prod", promotion.Proposed, "dev has: worker 2.0.0 -> 2.1.0")
	})
	t.Run("nothing else moves", func(t *testing.T) {
		t.Parallel()
		w := world(t, flat, "web:1.4.0", "worker:2.0.0")
		w.Publish("web:1.5.0", "worker:2.0.0")
		w.Expect("dev", promotion.Refused, "broken.yaml:3: does not parse")
	})
	t.Run("it stops no component that moves", func(t *testing.T) {
		t.Parallel()
		w := world(t, flat, "web:1.4.0", "worker:2.0.0")
		w.Publish("web:1.4.0", "worker:2.1.0")
		w.Expect("dev", promotion.Proposed, "newer: worker 2.0.0 -> 2.1.0")
	})
	t.Run("one version for all", func(t *testing.T) {
		t.Parallel()
		w := world(t, flat+"applications: {default: {sameVersion: true, components: [web, worker]}}\n", "web:1.4.0", "worker:1.4.0")
		w.Publish("web:1.5.0", "worker:1.5.0")
		w.Expect("dev", promotion.Waiting, "sameVersion: the components have different versions: web 1.4.0, worker 1.5.0")
	})
	t.Run("requested versions", func(t *testing.T) {
		t.Parallel()
		w := world(t, flat, "web:1.4.0", "worker:2.0.0").WithForge()
		w.ChangeState(state.AddRequest(state.Target(w.Target("dev")), state.Request{
			Act: promotiontest.ActOf("ada"), With: []string{"quay.io/acme/web:1.5.0", "quay.io/acme/worker:2.1.0"},
		}))
		w.Explicit = map[promotion.Target]map[string]promotion.Available{w.Target("dev"): {
			"web":    {Version: promotiontest.Version("1.5.0"), Found: true},
			"worker": {Version: promotiontest.Version("2.1.0"), Found: true},
		}}
		w.Expect("dev", promotion.Refused, "broken.yaml:3: does not parse")
	})
}

func TestPlan_propose(t *testing.T) {
	t.Parallel()
	const text = promotiontest.Components + `
environments:
  dev: {paths: [dev], propose: manual}
  drift: {paths: [drift], propose: never}
`
	w := decidetest.NewCheckout(t, text)
	w.Has("dev", "web:1.4.0")
	w.Has("drift", "web:1.4.0")
	w.Publish("web:1.5.0")
	w.Expect("dev", promotion.Waiting, "propose is manual: waiting for a request")
	w.Expect("drift", promotion.Waiting, "propose is never: the difference is only reported")
	w.Requested["dev"], w.Requested["drift"] = true, true
	w.Expect("dev", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
	w.Expect("drift", promotion.Waiting, "propose is never: the difference is only reported")
}

// gated has a condition of every kind, and gates.
const gated = promotiontest.Components + `
environments:
  dev: {paths: [dev]}
  prod:
    paths: [prod]
    after: {dev: {soak: 36h, checks: [e2e], tagged: qa-passed}}
    gates: {windows: [office], checks: [lint], approvals: {count: 2}}
windows:
  office: {kind: allow, schedule: "0 9 * * 1-4", duration: 2h, timeZone: Europe/Berlin}
`

func TestPlan_conditionsAndGates(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, gated)
	w.Has("dev", "web:1.5.0@"+promotiontest.DigestA)
	w.Has("prod", "web:1.4.0")
	w.AddFact("web", "qa-passed", image.Version{Digest: promotiontest.DigestA})
	w.Expect("prod", promotion.Waiting, "dev soak: not evaluated in a checkout")
	w.Requested = map[string]bool{"prod": true}
	d := w.Expect("prod", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
	const later = "not evaluated in a checkout"
	wantConditions := []promotion.Condition{
		{Name: "dev soak", State: promotion.Unknown, Reason: later, Value: "1d12h"},
		{Name: "dev check e2e", State: promotion.Unknown, Reason: later},
		{Name: "dev tagged qa-passed", State: promotion.Passed},
	}
	if diff := cmp.Diff(wantConditions, d.Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	opening := time.Date(2026, 11, 19, 8, 0, 0, 0, time.UTC)
	wantGates := []promotion.Condition{
		{Name: "windows office", State: promotion.Pending, Reason: "outside of window office", Until: &opening},
		{Name: "check lint", State: promotion.Unknown, Reason: later},
		{Name: "approvals", State: promotion.Unknown, Reason: later, Value: "2 required"},
	}
	if diff := cmp.Diff(wantGates, d.Gates); diff != "" {
		t.Errorf("gates (-want +got):\n%s", diff)
	}
}

func TestPlan_tagged(t *testing.T) {
	t.Parallel()
	t.Run("waits while the tag is elsewhere", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, gated)
		w.Has("dev", "web:1.5.0@"+promotiontest.DigestA)
		w.Has("prod", "web:1.4.0")
		w.AddFact("web", "qa-passed", image.Version{Digest: promotiontest.DigestB})
		w.Expect("prod", promotion.Waiting,
			"dev tagged qa-passed: web: the tag points to sha256:bbbbbbbbbbbb instead of sha256:aaaaaaaaaaaa")
	})
	t.Run("waits while there is no such tag", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, gated)
		w.Has("dev", "web:1.5.0@"+promotiontest.DigestA)
		w.Has("prod", "web:1.4.0")
		w.AddFact("web", "qa-passed", image.Version{})
		w.Expect("prod", promotion.Waiting, "dev tagged qa-passed: web: the registry has no such tag")
	})
	t.Run("is unknown without an answer", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, gated)
		w.Has("dev", "web:1.5.0@"+promotiontest.DigestA)
		w.Has("prod", "web:1.4.0")
		d := w.Decide("prod")
		if c := d.Conditions[2]; c.State != promotion.Unknown {
			t.Errorf("condition: %+v", c)
		}
	})
}

// Outside of a checkout what is unknown blocks: it is never skipped.
func TestPlan_unknownConditionBlocksOutsideCheckout(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  dev: {paths: [dev]}
  prod: {paths: [prod], after: {dev: {tagged: qa-passed}}}
`)
	w.Checkout = false
	w.Has("dev", "web:1.5.0@"+promotiontest.DigestA)
	w.Has("prod", "web:1.4.0")
	w.AddFact("web", "1.5.0", image.Version{Digest: promotiontest.DigestA})
	w.Expect("prod", promotion.Waiting, "dev tagged qa-passed: unknown for web")
}
