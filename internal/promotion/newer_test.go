package promotion_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// openWith is dev with web 1.4 and an open pull request of 1.5, while 1.6 is
// offered.
func openWith(t *testing.T, settings string) *world {
	t.Helper()
	w := oneOf(t, settings)
	w.offers("web:1.6@" + digestC)
	w.opened("promoter/dev/shop", 7, of("shop", "web:1.5@"+digestB))
	w.stillHas("web:1.5@" + digestB)
	return w
}

func (w *world) approved(branch string, by ...string) {
	open := w.Open[branch]
	for _, login := range by {
		open.Approvals = append(open.Approvals, promotion.Approval{By: login})
	}
	w.Open[branch] = open
}

// expectShown wants a condition that is shown with a decision.
func expectShown(t *testing.T, d promotion.Decision, name, reason string) {
	t.Helper()
	if !slices.ContainsFunc(d.Conditions, func(c promotion.Condition) bool {
		return c.Name == name && c.Reason == reason && c.State == promotion.Pending
	}) {
		t.Errorf("no %q: %q in %+v", name, reason, d.Conditions)
	}
}

func TestNewer_refresh(t *testing.T) {
	t.Parallel()
	w := openWith(t, "")
	w.expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.6")
	w.expectOnly(promotion.StepPropose, false, "newer: web 1.4 -> 1.6")
}

// An approval pauses the refresh; one that does not count does not.
func TestNewer_refreshPausesAtAnApproval(t *testing.T) {
	t.Parallel()
	const settings = ", land: automerge, gates: {approvals: {count: 2, from: [ada, eve]}}"
	w := openWith(t, settings)
	w.approved("promoter/dev/shop", "bob")
	w.expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.6")

	w.approved("promoter/dev/shop", "ada")
	d := w.expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.5")
	expectShown(t, d, "newer", "newer waits: web 1.6, until #7 is decided, which is approved by ada")
	if w.only().Land {
		t.Error("one approval of two")
	}
	w.approved("promoter/dev/shop", "eve")
	if !w.only().Land {
		t.Error("what was approved is not merged")
	}
}

func TestNewer_queue(t *testing.T) {
	t.Parallel()
	w := openWith(t, ", newer: queue, land: automerge")
	d := w.expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.5")
	expectShown(t, d, "newer", "newer waits: web 1.6, until #7 is decided")
	if !w.only().Land {
		t.Error("what is open is not merged")
	}
}

// Somebody asked for the newer one by name of its snapshot: that decides.
func TestNewer_queueEndsByARequest(t *testing.T) {
	t.Parallel()
	w := openWith(t, ", propose: manual")
	request := state.Request{Act: act("ada"), Snapshot: snapshotOf("web:1.6@" + digestC).ID()}
	w.peopleDecide(state.Ask(state.Target(w.place("dev/shop")), request))
	w.expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.6")

	request.Snapshot = snapshotOf("web:1.5@" + digestB).ID()
	w.peopleDecide(state.Fulfill(state.Target(w.place("dev/shop")), request), state.Ask(state.Target(w.place("dev/shop")), request))
	w.expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.5")
}

// What is open is not what the registry just offered: it is asked again, and what
// is gone, moved or not known does not land.
func TestNewer_openIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := openWith(t, ", newer: queue, land: automerge")
	w.Facts = promotion.Facts{}
	want := []string{"web:1.5"}
	if diff := cmp.Diff(want, w.questions()); diff != "" {
		t.Error(diff)
	}
	for reason, fact := range map[string]*image.Version{
		"web 1.5: the registry did not say whether it still is the same":                       nil,
		"web 1.5: image missing: the registry has it no more":                                  {},
		"web 1.5: tag moved: it points at sha256:dddddddddddd now, not at sha256:bbbbbbbbbbbb": {Digest: digestD},
	} {
		if fact != nil {
			w.fact("web", "1.5", *fact)
		}
		w.expect("dev/shop", promotion.Waiting, reason)
		w.expectOnly(promotion.StepKeep, false, reason)
		w.Facts = promotion.Facts{}
	}

	// While it is what is offered, nothing more is asked.
	w.offers("web:1.5@" + digestB)
	if got := w.questions(); len(got) > 0 {
		t.Error(got)
	}
}

// What is open is kept only as long as it is valid.
func TestNewer_queueEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*world)
	}{
		{"rejected", func(w *world) { w.rejects("dev/shop", "web:1.5@"+digestB) }},
		{"reverted", func(w *world) {
			w.Reverted[w.place("dev/shop")] = []promotion.Reversion{{Component: "web", Version: version("1.5@" + digestB)}}
		}},
		{"changes nothing", func(w *world) { w.opened("promoter/dev/shop", 7, of("shop", "web:1.4@"+digestA)) }},
		{"would go back", func(w *world) { w.opened("promoter/dev/shop", 7, of("shop", "web:1.3@"+digestB)) }},
		{"not selected", func(w *world) { w.opened("promoter/dev/shop", 7, of("shop", "web:nightly@"+digestB)) }},
		{"another repository", func(w *world) {
			snapshot := snapshotOf("web:1.5@" + digestB)
			snapshot["web"] = promotion.Pinned{Repository: repository("other"), Version: snapshot["web"].Version}
			w.opened("promoter/dev/shop", 7, map[string]promotion.Snapshot{"shop": snapshot})
		}},
		{"a person's", func(w *world) {
			open := w.Open["promoter/dev/shop"]
			open.Foreign = "ada committed to it"
			w.Open["promoter/dev/shop"] = open
		}},
		{"another application's", func(w *world) { w.opened("promoter/dev/shop", 7, of("blog", "web:1.5@"+digestB)) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := openWith(t, ", newer: queue")
			test.change(w)
			w.expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.6")
		})
	}
}

// A registry that tells less than before never brings a pull request back, and
// one component that is silent does not leave it.
func TestNewer_neverBack(t *testing.T) {
	t.Parallel()
	open := of("shop", "web:1.6@"+digestC, "worker:2.1@"+digestB)
	tests := []struct {
		name   string
		offers func(*world)
		want   string
	}{
		{"older", func(w *world) { w.offers("web:1.5@"+digestB, "worker:2.1@"+digestB) }, "newer: web 1.4 -> 1.6, worker 2.0 -> 2.1"},
		{"older beside newer", func(w *world) { w.offers("web:1.5@"+digestB, "worker:2.2@"+digestC) }, "newer: web 1.4 -> 1.6, worker 2.0 -> 2.2"},
		{"no answer", func(w *world) {
			w.offers("worker:2.2@" + digestC)
			w.Available["web"] = promotion.Available{Err: errDown}
		}, "newer: web 1.4 -> 1.6, worker 2.0 -> 2.2"},
		{"not asked", func(w *world) {
			delete(w.Available, "web")
			w.offers("worker:2.2@" + digestC)
		}, "newer: web 1.4 -> 1.6, worker 2.0 -> 2.2"},
		{"newer", func(w *world) { w.offers("web:1.7@"+digestD, "worker:2.2@"+digestC) }, "newer: web 1.4 -> 1.7, worker 2.0 -> 2.2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := oneOf(t, "")
			w.has("dev/shop", "worker:2.0@"+digestA)
			w.opened("promoter/dev/shop", 7, open)
			w.stillHas("web:1.6@"+digestC, "worker:2.1@"+digestB)
			test.offers(w)
			w.expect("dev/shop", promotion.Proposed, test.want)
		})
	}
}

// A child takes its parents' snapshot whole. While it only is older than what is
// open, the pull request stays; once what is open was taken back there, it goes.
func TestNewer_child(t *testing.T) {
	t.Parallel()
	soaking := func(t *testing.T) *world {
		t.Helper()
		w := newWorld(t, components+`
environments:
  dev: {paths: ["dev/{application}"], land: push, newer: queue}
  staging: {paths: ["staging/{application}"], after: {dev: {soak: 1h}}}
`).forge()
		w.has("staging/shop", "web:1.3@"+digestA)
		w.opened("promoter/staging/shop", 7, of("shop", "web:1.5@"+digestC))
		return w
	}
	w := soaking(t)
	w.has("dev/shop", "web:1.5@"+digestC)
	w.stood("dev/shop", 30*time.Minute, 0, "web:1.5@"+digestC)
	w.stood("dev/shop", 5*time.Hour, 30*time.Minute, "web:1.4@"+digestB)
	d := w.decide("staging/shop")
	if d.State != promotion.Waiting || d.Reason.Rule != promotion.RuleCondition {
		t.Errorf("%s: %s", d.State, d.Reason)
	}
	if p := w.arrange(); len(p) != 1 || p[0].Step != promotion.StepKeep || p[0].Land {
		t.Errorf("%v", inShort(p))
	}

	back := soaking(t)
	back.has("dev/shop", "web:1.4@"+digestB)
	back.stood("dev/shop", 2*time.Hour, 0, "web:1.4@"+digestB)
	back.stood("dev/shop", 5*time.Hour, 2*time.Hour, "web:1.5@"+digestC)
	back.Landings[back.place("dev/shop")][1].TakenBack = true
	back.expect("staging/shop", promotion.Proposed, "dev has: web 1.3 -> 1.4")
}
