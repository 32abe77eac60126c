package promotion_test

import (
	"fmt"
	"testing"
	"time"

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

// P-02: what a person works on is left alone, whatever is wanted.
func TestArrange_P02_foreign(t *testing.T) {
	t.Parallel()
	for _, offer := range []string{"web:1.5@" + digestB, "web:1.4@" + digestA} {
		w := oneOf(t, ", land: automerge")
		open := w.opened("promoter/dev/shop", 7, of("shop", "web:1.5@"+digestB))
		open.Foreign = "ada committed to it"
		w.Open[open.Head] = open
		w.offers(offer)
		w.expectOnly(promotion.StepKeep, false, "ada committed to it")
	}
}

// A hold or a freeze keeps what is open, and does not merge it. A rejection closes
// it all the same.
func TestArrange_G10_freeze(t *testing.T) {
	t.Parallel()
	until := noon.AddDate(0, 0, 1)
	for reason, change := range map[string]state.Change{
		"held by ada since 2026-11-18":          state.Hold(state.Place{Environment: "dev", Application: "shop"}, act("ada")),
		"dev is frozen by ada since 2026-11-18": state.Freeze("dev", act("ada"), &until),
	} {
		for _, offer := range []string{"web:1.4@" + digestA, "web:1.5@" + digestB} {
			w := oneOf(t, ", land: automerge")
			w.offers(offer)
			w.opened("promoter/dev/shop", 7, of("shop", "web:1.5@"+digestB))
			w.peopleDecide(change)
			w.expectOnly(promotion.StepKeep, false, reason)
			w.rejects("dev/shop", "web:1.5@"+digestB)
			w.expectOnly(promotion.StepClose, false, "web 1.5 was rejected by ada on 2026-11-18")
		}
	}
}

// Each way in which an open pull request comes to an end, or does not.
func TestArrange_P10_whatIsLeft(t *testing.T) {
	t.Parallel()
	const branch = "promoter/dev/shop"
	tests := []struct {
		name    string
		prepare func(*world)
		step    promotion.Step
		reason  string
	}{
		{"done by hand", func(w *world) {
			w.offers("web:1.4@" + digestA)
			w.opened(branch, 7, of("shop", "web:1.4@"+digestA))
		}, promotion.StepClose, "holds this already"},
		{"the files are ahead", func(w *world) {
			w.offers("web:1.4@" + digestA)
			w.opened(branch, 7, of("shop", "web:1.3@"+digestB))
		}, promotion.StepClose, "the files are ahead of it"},
		{"rejected", func(w *world) {
			w.offers("web:1.4@" + digestA)
			w.opened(branch, 7, of("shop", "web:1.5@"+digestB))
			w.rejects("dev/shop", "web:1.5@"+digestB)
		}, promotion.StepClose, "web 1.5 was rejected by ada on 2026-11-18"},
		{"reverted", func(w *world) {
			w.offers("web:1.4@" + digestA)
			w.opened(branch, 7, of("shop", "web:1.5@"+digestB))
			w.Taken[w.place("dev/shop")] = []promotion.Taken{{Component: "web", Version: version("1.5@" + digestB)}}
		}, promotion.StepClose, "web 1.5 was here before and was taken back"},
		{"not selected any more", func(w *world) {
			w.offers("web:1.4@" + digestA)
			w.opened(branch, 7, of("shop", "web:nightly@"+digestB))
		}, promotion.StepClose, "the config does not select it any more: web nightly"},
		{"the registry forgot it", func(w *world) { // a list may not be whole: it is kept
			w.offers("web:1.4@" + digestA)
			w.opened(branch, 7, of("shop", "web:1.5@"+digestB))
		}, promotion.StepKeep, "holds this already"},
		{"the registry does not answer", func(w *world) {
			w.Offers["web"] = promotion.Offer{Err: errDown}
			w.opened(branch, 7, of("shop", "web:1.5@"+digestB))
		}, promotion.StepKeep, "web: down"},
		{"the files are gone", func(w *world) {
			delete(w.Places, w.place("dev/shop"))
			w.opened(branch, 7, of("shop", "web:1.5@"+digestB))
		}, promotion.StepClose, "no environment has files of shop any more"},
		{"the branch is away", func(w *world) {
			delete(w.Places, w.place("dev/shop"))
			w.Away["dev"] = "no branch env/dev"
			w.opened(branch, 7, of("shop", "web:1.5@"+digestB))
		}, promotion.StepKeep, "no branch env/dev"},
		{"no reference any more", func(w *world) {
			w.Places[w.place("dev/shop")] = promotion.Present{}
			w.opened(branch, 7, of("shop", "web:1.5@"+digestB))
		}, promotion.StepClose, "the files hold no reference to a followed component"},
		{"the registry has an older one now", func(w *world) {
			w.offers("web:1.4.5@" + digestC)
			w.opened(branch, 7, of("shop", "web:1.5@"+digestB))
			w.stillHas("web:1.5@" + digestB)
		}, promotion.StepPropose, "newer: web 1.4 -> 1.5"},
		{"trailers that say nothing", func(w *world) {
			w.offers("web:1.4@" + digestA)
			w.opened(branch, 7, nil)
		}, promotion.StepClose, "holds this already"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := oneOf(t, "")
			test.prepare(w)
			w.expectOnly(test.step, false, test.reason)
		})
	}
}

// What is only reported now has no pull request any more.
func TestArrange_proposeNever(t *testing.T) {
	t.Parallel()
	w := oneOf(t, ", propose: never")
	w.opened("promoter/dev/shop", 7, of("shop", "web:1.5@"+digestB))
	w.expectOnly(promotion.StepClose, false, "propose is never: the difference is only reported")
}

// A rollback that may not go on yet keeps its pull request, although it leads back.
func TestArrange_rollbackIsKept(t *testing.T) {
	t.Parallel()
	w := oneOf(t, ", land: automerge")
	w.opened("promoter/dev/shop", 7, of("shop", "web:1.3@"+digestC))
	back := state.RolledBack{Act: act("ada"), Images: map[string]string{"web": "quay.io/acme/web:1.3@" + digestC}}
	w.peopleDecide(state.Rollback(state.Place(w.place("dev/shop")), back))
	w.stillHas("web:1.3@" + digestC)
	w.expectOnly(promotion.StepPropose, true, "rolled back by ada on 2026-11-18: web 1.4 -> 1.3")
	w.peopleDecide(state.Freeze("dev", act("eve"), nil))
	w.expectOnly(promotion.StepKeep, false, "dev is frozen by eve since 2026-11-18")
}

// Older versions that somebody asked for are no less wanted because the files are
// ahead of them.
func TestArrange_requestIsKept(t *testing.T) {
	t.Parallel()
	w := soaked(t, "refresh")
	w.Environments = []string{"staging"}
	w.opened("promoter/staging/shop", 7, of("shop", "web:1.2@"+digestC))
	place := w.place("staging/shop")
	w.peopleDecide(state.Ask(state.Place(place), state.Request{Act: act("ada"), With: []string{"quay.io/acme/web:1.2"}}))
	w.Given = map[promotion.Place]map[string]promotion.Offer{
		place: {"web": {Version: version("1.2@" + digestC), Found: true, Given: true}},
	}
	if p := w.only(); p.Step != promotion.StepKeep || p.Decisions[0].State != promotion.Waiting {
		t.Errorf("%s: %v", p.Decisions[0].State, inShort([]promotion.Proposal{p}))
	}
}

// A pull request whose trailers tell nothing is kept while something is wanted.
func TestArrange_untoldIsKept(t *testing.T) {
	t.Parallel()
	w := soaked(t, "refresh")
	w.Environments = []string{"staging"}
	w.stood("dev/shop", time.Minute, 0, "web:1.4@"+digestA)
	w.opened("promoter/staging/shop", 7, nil)
	if p := w.only(); p.Step != promotion.StepKeep || p.Land {
		t.Errorf("%v", inShort([]promotion.Proposal{p}))
	}
}

// A child keeps what is open as long as an environment before it has, or had, it.
func TestArrange_G12_childKeepsWhatItsParentHas(t *testing.T) {
	t.Parallel()
	ahead := func(t *testing.T) *world {
		t.Helper()
		w := newWorld(t, chain).forge()
		w.Environments = []string{"staging"}
		w.has("dev/shop", "web:1.4@"+digestA)
		w.has("staging/shop", "web:1.4@"+digestA)
		w.opened("promoter/staging/shop", 7, of("shop", "web:1.5@"+digestB))
		return w
	}
	ahead(t).expectOnly(promotion.StepClose, false, "no environment before holds it any more: web 1.5")

	w := ahead(t)
	w.Landings[w.place("dev/shop")] = []promotion.Landing{
		{Commit: "b", Snapshot: snapshotOf("web:1.4@" + digestA)},
		{Commit: "a", Snapshot: snapshotOf("web:1.5@" + digestB), TakenBack: true},
	}
	w.expectOnly(promotion.StepClose, false, "web 1.5 was taken back in dev")
}

func TestArrange_M09_environmentGone(t *testing.T) {
	t.Parallel()
	w := oneOf(t, "")
	w.offers("web:1.4@" + digestA)
	w.opened("promoter/qa/shop", 7, of("shop", "web:1.5@"+digestB))
	w.opened("promoter/_state", 8, nil) // none of ours, whatever somebody opened from it
	w.expectOnly(promotion.StepClose, false, "the config has no environment qa any more")
	if p := w.only(); p.Environment.Name != "qa" || p.Head != "promoter/qa/shop" || p.Open.Number != 7 {
		t.Errorf("%+v", p)
	}
}

// A pass that only looks at one environment leaves the others alone.
func TestArrange_M09_notLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain).forge()
	w.Environments = []string{"dev"}
	w.opened("promoter/prod/shop", 7, of("shop", "web:1.5@"+digestB))
	if got := w.arrange(); len(got) > 0 {
		t.Errorf("%v", inShort(got))
	}
}

// What lands another way now leaves no pull request behind.
func TestArrange_M09_landsAnotherWay(t *testing.T) {
	t.Parallel()
	w := oneOf(t, ", land: push")
	w.opened("promoter/dev/shop", 7, of("shop", "web:1.5@"+digestB))
	w.opened("promoter/dev/_all", 8, of("shop", "web:1.5@"+digestB))
	want := []string{
		"close promoter/dev/_all []: the applications of dev have pull requests of their own now",
		"close promoter/dev/shop []: shop is pushed to dev now",
		"land, push  [dev/shop]: newer: web 1.4 -> 1.5",
	}
	if diff := cmp.Diff(want, inShort(w.arrange())); diff != "" {
		t.Error(diff)
	}
}

// Rollbacks, then what was requested, then closes, then the others.
func TestArrange_order(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain).forge()
	w.opened("promoter/qa/shop", 7, nil)
	var decisions []promotion.Decision
	decide := func(environment, application string, rule promotion.Rule, request *state.Request) {
		decisions = append(decisions, promotion.Decision{
			Place: promotion.Place{Environment: environment, Application: application},
			State: promotion.Proposed, Reason: promotion.Reason{Rule: rule, Words: "wanted"}, Request: request,
		})
	}
	decide("prod", "a", promotion.RuleParent, nil)
	decide("staging", "b", promotion.RuleRollback, nil)
	decide("dev", "d", promotion.RuleNewer, nil)
	decide("dev", "c", promotion.RuleNewer, nil)
	decide("prod", "e", promotion.RuleParent, &state.Request{})
	want := []string{
		"propose promoter/staging/b [staging/b]: wanted",
		"propose promoter/prod/e [prod/e]: wanted",
		"close promoter/qa/shop []: the config has no environment qa any more",
		"propose promoter/dev/c [dev/c]: wanted",
		"propose promoter/dev/d [dev/d]: wanted",
		"propose promoter/prod/a [prod/a]: wanted",
	}
	got := inShort(promotion.Arrange(w.Observed, decisions, noon))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestArrange_P18_line(t *testing.T) {
	t.Parallel()
	w := newWorld(t, components+`
environments:
  dev: {paths: ["dev/{application}"], pullRequest: {limit: 3}}
`).forge()
	w.offers("web:1.5@" + digestB)
	for i := range 10 {
		w.has(fmt.Sprintf("dev/app-%d", i), "web:1.4@"+digestA)
	}
	w.opened("promoter/dev/app-8", 8, of("app-8", "web:1.5@"+digestB)) // is open already
	w.opened("promoter/dev/app-x", 9, of("app-x", "web:1.5@"+digestB)) // makes room
	want := []string{
		"close promoter/dev/app-x []: no environment has files of app-x any more",
		"propose promoter/dev/app-0 [dev/app-0]: newer: web 1.4 -> 1.5",
		"propose promoter/dev/app-1 [dev/app-1]: newer: web 1.4 -> 1.5",
	}
	for i := range 6 {
		want = append(want, fmt.Sprintf("wait promoter/dev/app-%d [dev/app-%[1]d]: waiting in line: place %d of 7", i+2, i+1))
	}
	want = append(want, "propose promoter/dev/app-8 [dev/app-8]: newer: web 1.4 -> 1.5",
		"wait promoter/dev/app-9 [dev/app-9]: waiting in line: place 7 of 7")
	proposals := w.arrange()
	if diff := cmp.Diff(want, inShort(proposals)); diff != "" {
		t.Error(diff)
	}
	last := proposals[len(proposals)-1]
	if d := last.Decisions[0]; d.State != promotion.Waiting || d.Reason.Rule != promotion.RuleLimit {
		t.Errorf("%s: %s: what waits in line is not proposed", d.State, d.Reason)
	}
}

// The first pass over 200 applications opens no storm.
func TestArrange_P18_firstPass(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain).forge()
	w.offers("web:1.5@" + digestB)
	for i := range 200 {
		w.has(fmt.Sprintf("dev/app-%03d", i), "web:1.4@"+digestA)
	}
	opened := 0
	for _, p := range w.arrange() {
		if p.Step == promotion.StepPropose {
			opened++
		}
	}
	if opened != 20 {
		t.Errorf("%d are opened, want the limit of 20", opened)
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
	observed := largeWorld(b)
	observed.Checkout = false
	observed.Open = map[string]promotion.Open{}
	for app := 0; app < 2000; app += 10 {
		for env := range 5 {
			branch := promotion.HeadBranch(fmt.Sprintf("env%d", env), fmt.Sprintf("app-%04d", app))
			observed.Open[branch] = promotion.Open{Number: 1 + app*5 + env, Head: branch}
		}
	}
	decisions := promotion.Plan(observed, noon)
	b.ReportAllocs()
	for b.Loop() {
		if got := promotion.Arrange(observed, decisions, noon); len(got) != 10_000 {
			b.Fatalf("%d proposals", len(got))
		}
	}
}
