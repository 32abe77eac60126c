package propose_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose/proposetest"
)

// soaked is dev, which takes newer snapshots as it says, under a long soak.
func soaked(t *testing.T, newer string) *decidetest.Scenario {
	t.Helper()
	w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  dev: {paths: ["dev/{application}"], land: push, newer: `+newer+`}
  staging: {paths: ["staging/{application}"], after: {dev: {soak: 24h}}}
`).WithForge()
	w.Has("dev/shop", "web:1.4@"+promotiontest.DigestA)
	w.Has("staging/shop", "web:1.3@"+decidetest.DigestD)
	w.Publish("web:1.5@" + promotiontest.DigestB)
	return w
}

// Three snapshots in ten minutes: the first one stays until it is through.
func TestDrain_letsOneSnapshotThrough(t *testing.T) {
	t.Parallel()
	w := soaked(t, "drain")
	w.Stood("dev/shop", 10*time.Minute, 0, "web:1.4@"+promotiontest.DigestA)
	d := w.Decide("dev/shop")
	if d.State != promotion.Waiting || !strings.HasPrefix(d.Reason.Message, "drain: web 1.4 has not reached staging yet: dev soak") {
		t.Errorf("%s: %s", d.State, d.Reason)
	}
	if through := promotiontest.Noon.Add(24*time.Hour - 10*time.Minute); !d.Reason.Until.Equal(through) {
		t.Errorf("until %v, want %v", d.Reason.Until, through)
	}
	for _, p := range proposetest.Plan(w) {
		if p.Step != propose.StepWait {
			t.Errorf("%v", proposetest.Summaries(proposetest.Plan(w)))
		}
	}

	// A day later it is through, and the newer one enters while staging takes it.
	later := promotiontest.Noon.Add(24 * time.Hour)
	expectSummariesAt(w, later,
		"land, push  [dev/shop]: newer: web 1.4 -> 1.5",
		"propose promoter/staging/shop [staging/shop]: dev has: web 1.3 -> 1.4")
}

func TestDrain_passesIfTheCurrentSnapshotCannot(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*decidetest.Scenario)
	}{
		{"it stands in every child", func(w *decidetest.Scenario) {
			delete(w.Targets, w.Target("staging/shop"))
			w.Has("staging/shop", "web:1.4@"+promotiontest.DigestA)
		}},
		{"a child is ahead", func(w *decidetest.Scenario) {
			delete(w.Targets, w.Target("staging/shop"))
			w.Has("staging/shop", "web:1.5@"+promotiontest.DigestB)
		}},
		{"no child has the application", func(w *decidetest.Scenario) { delete(w.Targets, w.Target("staging/shop")) }},
		{"rejected in the child", func(w *decidetest.Scenario) { w.Reject("staging/shop", "web:1.4@"+promotiontest.DigestA) }},
		{"reverted in the child", func(w *decidetest.Scenario) {
			w.Reverted[w.Target("staging/shop")] = []promotion.Reversion{{Component: "web", Version: promotiontest.Version("1.4@" + promotiontest.DigestA)}}
		}},
		{"rejected here", func(w *decidetest.Scenario) { w.Reject("dev/shop", "web:1.4@"+promotiontest.DigestA) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := soaked(t, "drain")
			w.Stood("dev/shop", 10*time.Minute, 0, "web:1.4@"+promotiontest.DigestA)
			test.change(w)
			w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.5")
		})
	}
}

// A check that failed will not let it through; one that runs may.
func TestDrain_failed(t *testing.T) {
	t.Parallel()
	for state, want := range map[promotion.ConditionState]promotion.State{
		promotion.Failed: promotion.Proposed, promotion.Pending: promotion.Waiting, promotion.Passed: promotion.Proposed,
	} {
		w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  dev: {paths: ["dev/{application}"], newer: drain}
  staging: {paths: ["staging/{application}"], after: [dev]}
  prod: {paths: ["prod/{application}"], after: {staging: {checks: [e2e]}}}
`).WithForge()
		// Absent in staging: prod uses dev, the next environment upstream, and so dev waits for prod.
		w.Has("dev/shop", "web:1.4@"+promotiontest.DigestA)
		w.Has("prod/shop", "web:1.3@"+decidetest.DigestD)
		w.Publish("web:1.5@" + promotiontest.DigestB)
		w.Stood("dev/shop", time.Minute, 0, "web:1.4@"+promotiontest.DigestA)
		w.Landings[w.Target("dev/shop")][0].Checks = []promotion.Check{promotiontest.Check("e2e", state)}
		if d := w.Decide("dev/shop"); d.State != want {
			t.Errorf("e2e %s: %s: %s, want %s", state, d.State, d.Reason, want)
		}
	}
}

// Where every newer version supersedes the open one at once, none gets through, and the
// reason reports it.
func TestDrain_refreshReportsStarvedSoak(t *testing.T) {
	t.Parallel()
	const none = "no version soaks long enough: dev is updated (newer: refresh) before 1d have passed; newer: drain lets one through"
	w := soaked(t, "refresh")
	w.Stood("dev/shop", 2*time.Minute, 0, "web:1.4@"+promotiontest.DigestA)
	w.Stood("dev/shop", 5*time.Minute, 2*time.Minute, "web:1.3.2@"+decidetest.DigestC)
	d := w.Decide("staging/shop")
	for _, c := range d.Conditions {
		if c.Reason == none {
			t.Error("one that was replaced may be chance")
		}
	}
	w.Stood("dev/shop", 10*time.Minute, 5*time.Minute, "web:1.3.1@"+promotiontest.DigestB)
	landings := w.Landings[w.Target("dev/shop")]
	landings[2].Reverted = true
	for _, c := range w.Decide("staging/shop").Conditions {
		if c.Reason == none {
			t.Error("what a person took back did not starve")
		}
	}
	landings[2].Reverted = false
	expectShown(t, w.Decide("staging/shop"), "dev soak", none)
	if d := w.Decide("dev/shop"); d.State != promotion.Proposed {
		t.Errorf("%s: %s", d.State, d.Reason)
	}

	// The last one before soaked for long enough: it goes on, and nothing starves.
	calm := soaked(t, "refresh")
	calm.Stood("dev/shop", 25*time.Hour, 0, "web:1.4@"+promotiontest.DigestA)
	calm.Stood("dev/shop", 26*time.Hour, 25*time.Hour, "web:1.3.2@"+decidetest.DigestC)
	calm.Stood("dev/shop", 27*time.Hour, 26*time.Hour, "web:1.3.1@"+promotiontest.DigestB)
	d = calm.Expect("staging/shop", promotion.Proposed, "dev has: web 1.3 -> 1.4")
	if len(d.Conditions) != 1 {
		t.Errorf("%+v", d.Conditions)
	}
}

// A checkout has no record of landings: nothing keeps it from showing the newer.
func TestDrain_checkout(t *testing.T) {
	t.Parallel()
	w := soaked(t, "drain")
	w.Checkout = true
	w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.5")
}
