package promotion_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

// oneOf is an environment dev with settings, in which web 1.4 stands and 1.5 is
// offered.
func oneOf(t *testing.T, settings string) *world {
	t.Helper()
	w := newWorld(t, components+`
windows:
  closed: {kind: deny, from: 2026-01-01, until: 2027-01-01}
environments:
  dev: {paths: ["dev/{application}"], branch: env/dev`+settings+"}\n").forge()
	w.has("dev/shop", "web:1.4@"+digestA)
	w.offers("web:1.5@" + digestB)
	return w
}

func TestArrange_opens(t *testing.T) {
	t.Parallel()
	w := oneOf(t, "")
	w.expectOnly(promotion.StepPropose, false, "newer: web 1.4 -> 1.5")
	p := w.only()
	if p.Head != "promoter/dev/shop" || p.Base != "env/dev" || p.Open != nil || p.Group || len(p.Decisions) != 1 {
		t.Errorf("%+v", p)
	}
}

// A place where nothing differs and nothing is open is no work.
func TestArrange_nothing(t *testing.T) {
	t.Parallel()
	w := oneOf(t, "")
	w.offers("web:1.4@" + digestA)
	if got := w.arrange(); len(got) > 0 {
		t.Errorf("%v", inShort(got))
	}
}

func TestArrange_push(t *testing.T) {
	t.Parallel()
	w := oneOf(t, ", land: push")
	w.expectOnly(promotion.StepPush, true, "newer: web 1.4 -> 1.5")
	if p := w.only(); p.Head != "" || p.Base != "env/dev" {
		t.Errorf("%+v", p)
	}

	w = oneOf(t, ", land: push, gates: {windows: [closed]}")
	p := w.only()
	if p.Step != promotion.StepWait || p.Land || p.Reason.Rule != promotion.RuleGate {
		t.Errorf("%v", inShort(w.arrange()))
	}
	if p.Reason.Until.IsZero() {
		t.Error("the reason does not tell when the window opens")
	}
}

// Whether promoter may merge.
func TestArrange_land(t *testing.T) {
	t.Parallel()
	wanted := of("shop", "web:1.5@"+digestB)
	const automerge = ", land: automerge, gates: {checks: [ci]}"
	passed := []promotion.Check{check("ci", promotion.Passed)}
	tests := []struct {
		name, settings string
		open           promotion.Open
		want           bool
	}{
		{"everything holds", automerge, promotion.Open{Snapshots: wanted, Checks: passed}, true},
		{"people merge", ", gates: {checks: [ci]}", promotion.Open{Snapshots: wanted, Checks: passed}, false},
		{"a gate", automerge, promotion.Open{Snapshots: wanted}, false},
		{"another snapshot", automerge, promotion.Open{Snapshots: of("shop", "web:1.3@"+digestB), Checks: passed}, true}, // of one digest: no other roll-out
		{"another digest", automerge, promotion.Open{Snapshots: of("shop", "web:1.4.9@"+digestC), Checks: passed}, false},
		{"another application too", automerge, promotion.Open{Snapshots: map[string]promotion.Snapshot{"shop": wanted["shop"], "blog": nil}, Checks: passed}, false},
		{"another component", automerge, promotion.Open{Snapshots: of("shop", "worker:1.5@"+digestB), Checks: passed}, false},
		{"no snapshot", automerge, promotion.Open{Checks: passed}, false},
		{"an objection", automerge, promotion.Open{Snapshots: wanted, Checks: passed, Objections: []string{"dan"}}, false},
		{"a draft", automerge, promotion.Open{Snapshots: wanted, Checks: passed, Draft: true}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := oneOf(t, test.settings)
			test.open.Number, test.open.Head = 7, "promoter/dev/shop"
			w.Open[test.open.Head] = test.open
			p := w.only()
			if p.Step != promotion.StepPropose || p.Land != test.want || p.Open == nil || p.Open.Number != 7 {
				t.Errorf("%v", inShort([]promotion.Proposal{p}))
			}
		})
	}
}

// What a person works on is left alone, whatever is wanted.
func TestArrange_foreign(t *testing.T) {
	t.Parallel()
	for _, available := range []string{"web:1.5@" + digestB, "web:1.4@" + digestA} {
		w := oneOf(t, ", land: automerge")
		open := w.opened("promoter/dev/shop", 7, of("shop", "web:1.5@"+digestB))
		open.Foreign = "ada committed to it"
		w.Open[open.Head] = open
		w.offers(available)
		w.expectOnly(promotion.StepKeep, false, "ada committed to it")
	}
}

// A hold or a freeze keeps what is open, and does not merge it. A rejection closes
// it all the same.
func TestArrange_freeze(t *testing.T) {
	t.Parallel()
	until := noon.AddDate(0, 0, 1)
	for reason, change := range map[string]state.Change{
		"held by ada since 2026-11-18":          state.Hold(state.Target{Environment: "dev", Application: "shop"}, act("ada")),
		"dev is frozen by ada since 2026-11-18": state.Freeze("dev", act("ada"), &until),
	} {
		for _, available := range []string{"web:1.4@" + digestA, "web:1.5@" + digestB} {
			w := oneOf(t, ", land: automerge")
			w.offers(available)
			w.opened("promoter/dev/shop", 7, of("shop", "web:1.5@"+digestB))
			w.peopleDecide(change)
			w.expectOnly(promotion.StepKeep, false, reason)
			w.rejects("dev/shop", "web:1.5@"+digestB)
			w.expectOnly(promotion.StepClose, false, "web 1.5 was rejected by ada on 2026-11-18")
		}
	}
}

// The same observation gives the same proposals.
func TestArrange_deterministic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain).forge()
	w.offers("web:1.5@" + digestB)
	for i := range 40 {
		w.has(fmt.Sprintf("dev/app-%02d", i), "web:1.4@"+digestA)
		w.has(fmt.Sprintf("staging/app-%02d", i), "web:1.3@"+digestC)
		w.opened(fmt.Sprintf("promoter/gone-%d/app", i), 100+i, nil)
	}
	first := w.arrange()
	for range 5 {
		if diff := cmp.Diff(inShort(first), inShort(w.arrange())); diff != "" {
			t.Fatal(diff)
		}
	}
}

// BenchmarkArrange arranges 2,000 applications in 5 environments: everything is
// proposed, and a tenth of it is open.
func BenchmarkArrange(b *testing.B) {
	observation := largeWorld(b)
	observation.Checkout = false
	observation.Open = map[string]promotion.Open{}
	for app := 0; app < 2000; app += 10 {
		for env := range 5 {
			branch := promotion.HeadBranch(fmt.Sprintf("env%d", env), fmt.Sprintf("app-%04d", app))
			observation.Open[branch] = promotion.Open{Number: 1 + app*5 + env, Head: branch}
		}
	}
	decisions := promotion.Plan(observation, noon)
	b.ReportAllocs()
	for b.Loop() {
		if got := promotion.Arrange(observation, decisions, noon); len(got) != 10_000 {
			b.Fatalf("%d proposals", len(got))
		}
	}
}
