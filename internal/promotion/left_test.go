package promotion_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

// Each way in which an open pull request comes to an end, or does not.
func TestArrange_whatIsLeft(t *testing.T) {
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
			w.Reverted[w.place("dev/shop")] = []promotion.Reversion{{Component: "web", Version: version("1.5@" + digestB)}}
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
			w.Available["web"] = promotion.Available{Err: errDown}
			w.opened(branch, 7, of("shop", "web:1.5@"+digestB))
		}, promotion.StepKeep, "web: down"},
		{"the files are gone", func(w *world) {
			delete(w.Targets, w.place("dev/shop"))
			w.opened(branch, 7, of("shop", "web:1.5@"+digestB))
		}, promotion.StepClose, "no environment has files of shop any more"},
		{"the branch is away", func(w *world) {
			delete(w.Targets, w.place("dev/shop"))
			w.Unavailable["dev"] = "no branch env/dev"
			w.opened(branch, 7, of("shop", "web:1.5@"+digestB))
		}, promotion.StepKeep, "no branch env/dev"},
		{"no reference any more", func(w *world) {
			w.Targets[w.place("dev/shop")] = promotion.Current{}
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
	w.peopleDecide(state.Rollback(state.Target(w.place("dev/shop")), back))
	w.landed("dev/shop", noon.Add(-time.Hour), noon, "web:1.3@"+digestC)
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
	target := w.place("staging/shop")
	w.peopleDecide(state.Ask(state.Target(target), state.Request{Act: act("ada"), With: []string{"quay.io/acme/web:1.2"}}))
	w.Explicit = map[promotion.Target]map[string]promotion.Available{
		target: {"web": {Version: version("1.2@" + digestC), Found: true, Explicit: true}},
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
func TestArrange_childKeepsWhatItsParentHas(t *testing.T) {
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

func TestArrange_environmentGone(t *testing.T) {
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
func TestArrange_notLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain).forge()
	w.Environments = []string{"dev"}
	w.opened("promoter/prod/shop", 7, of("shop", "web:1.5@"+digestB))
	if got := w.arrange(); len(got) > 0 {
		t.Errorf("%v", inShort(got))
	}
}

// What lands another way now leaves no pull request behind.
func TestArrange_landsAnotherWay(t *testing.T) {
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
