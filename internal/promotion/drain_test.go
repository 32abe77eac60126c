package promotion_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
)

// soaked is dev, which takes newer snapshots as it says, under a long soak.
func soaked(t *testing.T, newer string) *world {
	t.Helper()
	w := newWorld(t, components+`
environments:
  dev: {paths: ["dev/{application}"], land: push, newer: `+newer+`}
  staging: {paths: ["staging/{application}"], after: {dev: {soak: 24h}}}
`).forge()
	w.has("dev/shop", "web:1.4@"+digestA)
	w.has("staging/shop", "web:1.3@"+digestD)
	w.offers("web:1.5@" + digestB)
	return w
}

// Three snapshots in ten minutes: the first one stays until it is through.
func TestDrain_bringsOneThrough(t *testing.T) {
	t.Parallel()
	w := soaked(t, "drain")
	w.stood("dev/shop", 10*time.Minute, 0, "web:1.4@"+digestA)
	d := w.decide("dev/shop")
	if d.State != promotion.Waiting || !strings.HasPrefix(d.Reason.Message, "drain: web 1.4 is not through to staging yet: dev soak") {
		t.Errorf("%s: %s", d.State, d.Reason)
	}
	if through := noon.Add(24*time.Hour - 10*time.Minute); !d.Reason.Until.Equal(through) {
		t.Errorf("until %v, want %v", d.Reason.Until, through)
	}
	for _, p := range w.arrange() {
		if p.Step != promotion.StepWait {
			t.Errorf("%v", inShort(w.arrange()))
		}
	}

	// A day later it is through, and the newer one enters while staging takes it.
	later := noon.Add(24 * time.Hour)
	w.expectShortAt(later,
		"land, push  [dev/shop]: newer: web 1.4 -> 1.5",
		"propose promoter/staging/shop [staging/shop]: dev has: web 1.3 -> 1.4")
}

func TestDrain_letsGo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*world)
	}{
		{"it stands in every child", func(w *world) {
			delete(w.Targets, w.place("staging/shop"))
			w.has("staging/shop", "web:1.4@"+digestA)
		}},
		{"a child is ahead", func(w *world) {
			delete(w.Targets, w.place("staging/shop"))
			w.has("staging/shop", "web:1.5@"+digestB)
		}},
		{"no child has the application", func(w *world) { delete(w.Targets, w.place("staging/shop")) }},
		{"rejected in the child", func(w *world) { w.rejects("staging/shop", "web:1.4@"+digestA) }},
		{"reverted in the child", func(w *world) {
			w.Reverted[w.place("staging/shop")] = []promotion.Reversion{{Component: "web", Version: version("1.4@" + digestA)}}
		}},
		{"rejected here", func(w *world) { w.rejects("dev/shop", "web:1.4@"+digestA) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := soaked(t, "drain")
			w.stood("dev/shop", 10*time.Minute, 0, "web:1.4@"+digestA)
			test.change(w)
			w.expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.5")
		})
	}
}

// A check that failed will not let it through; one that runs may.
func TestDrain_failed(t *testing.T) {
	t.Parallel()
	for state, want := range map[promotion.ConditionState]promotion.State{
		promotion.Failed: promotion.Proposed, promotion.Pending: promotion.Waiting, promotion.Passed: promotion.Proposed,
	} {
		w := newWorld(t, components+`
environments:
  dev: {paths: ["dev/{application}"], newer: drain}
  staging: {paths: ["staging/{application}"], after: [dev]}
  prod: {paths: ["prod/{application}"], after: {staging: {checks: [e2e]}}}
`).forge()
		// Absent in staging: prod looks through it, and so dev waits for prod.
		w.has("dev/shop", "web:1.4@"+digestA)
		w.has("prod/shop", "web:1.3@"+digestD)
		w.offers("web:1.5@" + digestB)
		w.stood("dev/shop", time.Minute, 0, "web:1.4@"+digestA)
		w.Landings[w.place("dev/shop")][0].Checks = []promotion.Check{check("e2e", state)}
		if d := w.decide("dev/shop"); d.State != want {
			t.Errorf("e2e %s: %s: %s, want %s", state, d.State, d.Reason, want)
		}
	}
}

// Where every newer one is taken at once, none gets through, and this is said.
func TestDrain_refreshSaysThatNoneWill(t *testing.T) {
	t.Parallel()
	const none = "no snapshot gets through: dev takes every newer one (newer: refresh) before 1d pass; newer: drain brings one through"
	w := soaked(t, "refresh")
	w.stood("dev/shop", 2*time.Minute, 0, "web:1.4@"+digestA)
	w.stood("dev/shop", 5*time.Minute, 2*time.Minute, "web:1.3.2@"+digestC)
	d := w.decide("staging/shop")
	for _, c := range d.Conditions {
		if c.Reason == none {
			t.Error("one that was replaced may be chance")
		}
	}
	w.stood("dev/shop", 10*time.Minute, 5*time.Minute, "web:1.3.1@"+digestB)
	landings := w.Landings[w.place("dev/shop")]
	landings[2].TakenBack = true
	for _, c := range w.decide("staging/shop").Conditions {
		if c.Reason == none {
			t.Error("what a person took back did not starve")
		}
	}
	landings[2].TakenBack = false
	expectShown(t, w.decide("staging/shop"), "dev soak", none)
	if d := w.decide("dev/shop"); d.State != promotion.Proposed {
		t.Errorf("%s: %s", d.State, d.Reason)
	}

	// The last one before soaked for long enough: it goes on, and nothing starves.
	calm := soaked(t, "refresh")
	calm.stood("dev/shop", 25*time.Hour, 0, "web:1.4@"+digestA)
	calm.stood("dev/shop", 26*time.Hour, 25*time.Hour, "web:1.3.2@"+digestC)
	calm.stood("dev/shop", 27*time.Hour, 26*time.Hour, "web:1.3.1@"+digestB)
	d = calm.expect("staging/shop", promotion.Proposed, "dev has: web 1.3 -> 1.4")
	if len(d.Conditions) != 1 {
		t.Errorf("%+v", d.Conditions)
	}
}

// A checkout has no record of landings: nothing keeps it from showing the newer.
func TestDrain_checkout(t *testing.T) {
	t.Parallel()
	w := soaked(t, "drain")
	w.Checkout = true
	w.expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.5")
}
