package propose_test

import (
	"fmt"
	"testing"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion/decide"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose/proposetest"
	"promoter/internal/state"
)

// oneOf is an environment dev with settings, in which web 1.4 stands and 1.5 is
// offered.
func oneOf(t *testing.T, settings string) *decidetest.Scenario {
	t.Helper()
	w := decidetest.NewCheckout(t, promotiontest.Components+`
windows:
  closed: {kind: deny, from: 2026-01-01, until: 2027-01-01}
environments:
  dev: {paths: ["dev/{application}"], branch: env/dev`+settings+"}\n").WithForge()
	w.Has("dev/shop", "web:1.4@"+promotiontest.DigestA)
	w.Publish("web:1.5@" + promotiontest.DigestB)
	return w
}

func TestPlan_opens(t *testing.T) {
	t.Parallel()
	w := oneOf(t, "")
	expectOnly(w, propose.StepPropose, false, "newer: web 1.4 -> 1.5")
	p := proposetest.Only(w)
	if p.Head != "promoter/dev/shop" || p.Base != "env/dev" || p.Open != nil || p.Group || len(p.Decisions) != 1 {
		t.Errorf("%+v", p)
	}
}

// A place where nothing differs and nothing is open is no work.
func TestPlan_nothing(t *testing.T) {
	t.Parallel()
	w := oneOf(t, "")
	w.Publish("web:1.4@" + promotiontest.DigestA)
	if got := proposetest.Plan(w); len(got) > 0 {
		t.Errorf("%v", proposetest.Summaries(got))
	}
}

func TestPlan_push(t *testing.T) {
	t.Parallel()
	w := oneOf(t, ", land: push")
	expectOnly(w, propose.StepPush, true, "newer: web 1.4 -> 1.5")
	if p := proposetest.Only(w); p.Head != "" || p.Base != "env/dev" {
		t.Errorf("%+v", p)
	}

	w = oneOf(t, ", land: push, gates: {windows: [closed]}")
	p := proposetest.Only(w)
	if p.Step != propose.StepWait || p.Land || p.Reason.Rule != promotion.RuleGate {
		t.Errorf("%v", proposetest.Summaries(proposetest.Plan(w)))
	}
	if p.Reason.Until.IsZero() {
		t.Error("the reason does not tell when the window opens")
	}
}

// Whether promoter may merge.
func TestPlan_land(t *testing.T) {
	t.Parallel()
	wanted := promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB)
	const automerge = ", land: automerge, gates: {checks: [ci]}"
	passed := []promotion.Check{promotiontest.Check("ci", promotion.Passed)}
	tests := []struct {
		name, settings string
		open           promotion.Open
		want           bool
	}{
		{"everything holds", automerge, promotion.Open{Snapshots: wanted, Checks: passed}, true},
		{"people merge", ", gates: {checks: [ci]}", promotion.Open{Snapshots: wanted, Checks: passed}, false},
		{"a gate", automerge, promotion.Open{Snapshots: wanted}, false},
		{"another snapshot", automerge, promotion.Open{Snapshots: promotiontest.SnapshotsOf("shop", "web:1.3@"+promotiontest.DigestB), Checks: passed}, true}, // of one digest: no other roll-out
		{"another digest", automerge, promotion.Open{Snapshots: promotiontest.SnapshotsOf("shop", "web:1.4.9@"+decidetest.DigestC), Checks: passed}, false},
		{"another application too", automerge, promotion.Open{Snapshots: map[string]promotion.Snapshot{"shop": wanted["shop"], "blog": nil}, Checks: passed}, false},
		{"another component", automerge, promotion.Open{Snapshots: promotiontest.SnapshotsOf("shop", "worker:1.5@"+promotiontest.DigestB), Checks: passed}, false},
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
			p := proposetest.Only(w)
			if p.Step != propose.StepPropose || p.Land != test.want || p.Open == nil || p.Open.Number != 7 {
				t.Errorf("%v", proposetest.Summaries([]propose.Proposal{p}))
			}
		})
	}
}

// What a person works on is left alone, whatever is wanted.
func TestPlan_foreign(t *testing.T) {
	t.Parallel()
	for _, available := range []string{"web:1.5@" + promotiontest.DigestB, "web:1.4@" + promotiontest.DigestA} {
		w := oneOf(t, ", land: automerge")
		open := w.OpenPullRequest("promoter/dev/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
		open.Foreign = "ada committed to it"
		w.Open[open.Head] = open
		w.Publish(available)
		expectOnly(w, propose.StepKeep, false, "ada committed to it")
	}
}

// A hold or a freeze keeps what is open, and does not merge it. A rejection closes
// it all the same.
func TestPlan_freeze(t *testing.T) {
	t.Parallel()
	until := promotiontest.Noon.AddDate(0, 0, 1)
	for reason, change := range map[string]state.Change{
		"on hold by ada since 2026-11-18":       state.Hold(state.Target{Environment: "dev", Application: "shop"}, promotiontest.ActOf("ada")),
		"dev is frozen by ada since 2026-11-18": state.Freeze("dev", promotiontest.ActOf("ada"), &until),
	} {
		for _, available := range []string{"web:1.4@" + promotiontest.DigestA, "web:1.5@" + promotiontest.DigestB} {
			w := oneOf(t, ", land: automerge")
			w.Publish(available)
			w.OpenPullRequest("promoter/dev/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
			w.ChangeState(change)
			expectOnly(w, propose.StepKeep, false, reason)
			w.Reject("dev/shop", "web:1.5@"+promotiontest.DigestB)
			expectOnly(w, propose.StepClose, false, "web 1.5 was rejected by ada on 2026-11-18")
		}
	}
}

// The same observation gives the same proposals.
func TestPlan_deterministic(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain).WithForge()
	w.Publish("web:1.5@" + promotiontest.DigestB)
	for i := range 40 {
		w.Has(fmt.Sprintf("dev/app-%02d", i), "web:1.4@"+promotiontest.DigestA)
		w.Has(fmt.Sprintf("staging/app-%02d", i), "web:1.3@"+decidetest.DigestC)
		w.OpenPullRequest(fmt.Sprintf("promoter/gone-%d/app", i), 100+i, nil)
	}
	first := proposetest.Plan(w)
	for range 5 {
		if diff := cmp.Diff(proposetest.Summaries(first), proposetest.Summaries(proposetest.Plan(w))); diff != "" {
			t.Fatal(diff)
		}
	}
}

// BenchmarkArrange arranges 2,000 applications in 5 environments: everything is
// proposed, and a tenth of it is open.
func BenchmarkPlan(b *testing.B) {
	observation := decidetest.LargeObservation(b)
	observation.Checkout = false
	observation.Open = map[string]promotion.Open{}
	for app := 0; app < 2000; app += 10 {
		for env := range 5 {
			branch := promotion.HeadBranch(fmt.Sprintf("env%d", env), fmt.Sprintf("app-%04d", app))
			observation.Open[branch] = promotion.Open{Number: 1 + app*5 + env, Head: branch}
		}
	}
	decisions, err := decide.Plan(b.Context(), observation, promotiontest.Noon)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if got := propose.Plan(observation, decisions, promotiontest.Noon); len(got) != 10_000 {
			b.Fatalf("%d proposals", len(got))
		}
	}
}
